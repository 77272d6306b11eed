from typing import Literal

ExportFineTuningJobMetricsSplitType0 = Literal['report', 'test', 'train', 'valid', 'valid_base', 'valid_greedy']

EXPORT_FINE_TUNING_JOB_METRICS_SPLIT_TYPE_0_VALUES: set[ExportFineTuningJobMetricsSplitType0] = { 'report', 'test', 'train', 'valid', 'valid_base', 'valid_greedy',  }

def check_export_fine_tuning_job_metrics_split_type_0(value: str) -> ExportFineTuningJobMetricsSplitType0:
    if value in EXPORT_FINE_TUNING_JOB_METRICS_SPLIT_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_FINE_TUNING_JOB_METRICS_SPLIT_TYPE_0_VALUES!r}")
