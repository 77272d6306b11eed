from typing import Literal

ReadinessStatus = Literal['degraded', 'ok']

READINESS_STATUS_VALUES: set[ReadinessStatus] = { 'degraded', 'ok',  }

def check_readiness_status(value: str) -> ReadinessStatus:
    if value in READINESS_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {READINESS_STATUS_VALUES!r}")
