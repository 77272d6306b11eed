from typing import Literal

ExportFineTuningJobRolloutsSplitType0 = Literal['report', 'test', 'train', 'valid', 'valid_base', 'valid_greedy']

EXPORT_FINE_TUNING_JOB_ROLLOUTS_SPLIT_TYPE_0_VALUES: set[ExportFineTuningJobRolloutsSplitType0] = { 'report', 'test', 'train', 'valid', 'valid_base', 'valid_greedy',  }

def check_export_fine_tuning_job_rollouts_split_type_0(value: str) -> ExportFineTuningJobRolloutsSplitType0:
    if value in EXPORT_FINE_TUNING_JOB_ROLLOUTS_SPLIT_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_FINE_TUNING_JOB_ROLLOUTS_SPLIT_TYPE_0_VALUES!r}")
