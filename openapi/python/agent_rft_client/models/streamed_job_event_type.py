from typing import Literal

StreamedJobEventType = Literal['message', 'metrics']

STREAMED_JOB_EVENT_TYPE_VALUES: set[StreamedJobEventType] = { 'message', 'metrics',  }

def check_streamed_job_event_type(value: str) -> StreamedJobEventType:
    if value in STREAMED_JOB_EVENT_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STREAMED_JOB_EVENT_TYPE_VALUES!r}")
