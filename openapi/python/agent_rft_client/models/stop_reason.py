from typing import Literal

StopReason = Literal['final_answer', 'max_episode_steps', 'token_limit', 'wall_time']

STOP_REASON_VALUES: set[StopReason] = { 'final_answer', 'max_episode_steps', 'token_limit', 'wall_time',  }

def check_stop_reason(value: str) -> StopReason:
    if value in STOP_REASON_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STOP_REASON_VALUES!r}")
