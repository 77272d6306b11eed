from typing import Literal

JudgeMessageRole = Literal['assistant', 'developer', 'system', 'user']

JUDGE_MESSAGE_ROLE_VALUES: set[JudgeMessageRole] = { 'assistant', 'developer', 'system', 'user',  }

def check_judge_message_role(value: str) -> JudgeMessageRole:
    if value in JUDGE_MESSAGE_ROLE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {JUDGE_MESSAGE_ROLE_VALUES!r}")
