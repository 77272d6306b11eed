from typing import Literal

ListFineTuningJobMetricsSplitType0 = Literal['report', 'test', 'train', 'valid', 'valid_base', 'valid_greedy']

LIST_FINE_TUNING_JOB_METRICS_SPLIT_TYPE_0_VALUES: set[ListFineTuningJobMetricsSplitType0] = { 'report', 'test', 'train', 'valid', 'valid_base', 'valid_greedy',  }

def check_list_fine_tuning_job_metrics_split_type_0(value: str) -> ListFineTuningJobMetricsSplitType0:
    if value in LIST_FINE_TUNING_JOB_METRICS_SPLIT_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_FINE_TUNING_JOB_METRICS_SPLIT_TYPE_0_VALUES!r}")
