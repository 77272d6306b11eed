from typing import Literal

EnvironmentCheckStatus = Literal['failed', 'passed', 'skipped', 'warned']

ENVIRONMENT_CHECK_STATUS_VALUES: set[EnvironmentCheckStatus] = { 'failed', 'passed', 'skipped', 'warned',  }

def check_environment_check_status(value: str) -> EnvironmentCheckStatus:
    if value in ENVIRONMENT_CHECK_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ENVIRONMENT_CHECK_STATUS_VALUES!r}")
