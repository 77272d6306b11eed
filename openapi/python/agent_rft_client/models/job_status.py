from typing import Literal

JobStatus = Literal['cancelled', 'failed', 'paused', 'pausing', 'queued', 'running', 'succeeded', 'validating_files']

JOB_STATUS_VALUES: set[JobStatus] = { 'cancelled', 'failed', 'paused', 'pausing', 'queued', 'running', 'succeeded', 'validating_files',  }

def check_job_status(value: str) -> JobStatus:
    if value in JOB_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {JOB_STATUS_VALUES!r}")
