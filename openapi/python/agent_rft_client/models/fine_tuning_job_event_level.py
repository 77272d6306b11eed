from typing import Literal

FineTuningJobEventLevel = Literal['error', 'info', 'warn']

FINE_TUNING_JOB_EVENT_LEVEL_VALUES: set[FineTuningJobEventLevel] = { 'error', 'info', 'warn',  }

def check_fine_tuning_job_event_level(value: str) -> FineTuningJobEventLevel:
    if value in FINE_TUNING_JOB_EVENT_LEVEL_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FINE_TUNING_JOB_EVENT_LEVEL_VALUES!r}")
