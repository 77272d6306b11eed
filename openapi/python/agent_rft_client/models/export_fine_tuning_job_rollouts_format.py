from typing import Literal

ExportFineTuningJobRolloutsFormat = Literal['jsonl', 'parquet']

EXPORT_FINE_TUNING_JOB_ROLLOUTS_FORMAT_VALUES: set[ExportFineTuningJobRolloutsFormat] = { 'jsonl', 'parquet',  }

def check_export_fine_tuning_job_rollouts_format(value: str) -> ExportFineTuningJobRolloutsFormat:
    if value in EXPORT_FINE_TUNING_JOB_ROLLOUTS_FORMAT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_FINE_TUNING_JOB_ROLLOUTS_FORMAT_VALUES!r}")
