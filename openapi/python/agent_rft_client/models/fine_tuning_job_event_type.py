from typing import Literal

FineTuningJobEventType = Literal['message', 'metrics']

FINE_TUNING_JOB_EVENT_TYPE_VALUES: set[FineTuningJobEventType] = { 'message', 'metrics',  }

def check_fine_tuning_job_event_type(value: str) -> FineTuningJobEventType:
    if value in FINE_TUNING_JOB_EVENT_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FINE_TUNING_JOB_EVENT_TYPE_VALUES!r}")
