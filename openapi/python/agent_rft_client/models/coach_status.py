from typing import Literal

CoachStatus = Literal['cancelled', 'completed', 'failed', 'paused', 'running']

COACH_STATUS_VALUES: set[CoachStatus] = { 'cancelled', 'completed', 'failed', 'paused', 'running',  }

def check_coach_status(value: str) -> CoachStatus:
    if value in COACH_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {COACH_STATUS_VALUES!r}")
