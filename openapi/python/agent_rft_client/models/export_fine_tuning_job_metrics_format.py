from typing import Literal

ExportFineTuningJobMetricsFormat = Literal['jsonl', 'parquet']

EXPORT_FINE_TUNING_JOB_METRICS_FORMAT_VALUES: set[ExportFineTuningJobMetricsFormat] = { 'jsonl', 'parquet',  }

def check_export_fine_tuning_job_metrics_format(value: str) -> ExportFineTuningJobMetricsFormat:
    if value in EXPORT_FINE_TUNING_JOB_METRICS_FORMAT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_FINE_TUNING_JOB_METRICS_FORMAT_VALUES!r}")
