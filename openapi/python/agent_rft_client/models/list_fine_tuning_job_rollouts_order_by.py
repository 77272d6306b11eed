from typing import Literal

ListFineTuningJobRolloutsOrderBy = Literal['reward', 'step']

LIST_FINE_TUNING_JOB_ROLLOUTS_ORDER_BY_VALUES: set[ListFineTuningJobRolloutsOrderBy] = { 'reward', 'step',  }

def check_list_fine_tuning_job_rollouts_order_by(value: str) -> ListFineTuningJobRolloutsOrderBy:
    if value in LIST_FINE_TUNING_JOB_ROLLOUTS_ORDER_BY_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_FINE_TUNING_JOB_ROLLOUTS_ORDER_BY_VALUES!r}")
