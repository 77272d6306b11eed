from typing import Literal

StreamedJobEventLevel = Literal['error', 'info', 'warn']

STREAMED_JOB_EVENT_LEVEL_VALUES: set[StreamedJobEventLevel] = { 'error', 'info', 'warn',  }

def check_streamed_job_event_level(value: str) -> StreamedJobEventLevel:
    if value in STREAMED_JOB_EVENT_LEVEL_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STREAMED_JOB_EVENT_LEVEL_VALUES!r}")
