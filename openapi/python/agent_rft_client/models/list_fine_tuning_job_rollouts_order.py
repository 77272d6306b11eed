from typing import Literal

ListFineTuningJobRolloutsOrder = Literal['asc', 'desc']

LIST_FINE_TUNING_JOB_ROLLOUTS_ORDER_VALUES: set[ListFineTuningJobRolloutsOrder] = { 'asc', 'desc',  }

def check_list_fine_tuning_job_rollouts_order(value: str) -> ListFineTuningJobRolloutsOrder:
    if value in LIST_FINE_TUNING_JOB_ROLLOUTS_ORDER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_FINE_TUNING_JOB_ROLLOUTS_ORDER_VALUES!r}")
