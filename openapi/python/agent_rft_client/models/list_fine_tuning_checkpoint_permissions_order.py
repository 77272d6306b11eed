from typing import Literal

ListFineTuningCheckpointPermissionsOrder = Literal['ascending', 'descending']

LIST_FINE_TUNING_CHECKPOINT_PERMISSIONS_ORDER_VALUES: set[ListFineTuningCheckpointPermissionsOrder] = { 'ascending', 'descending',  }

def check_list_fine_tuning_checkpoint_permissions_order(value: str) -> ListFineTuningCheckpointPermissionsOrder:
    if value in LIST_FINE_TUNING_CHECKPOINT_PERMISSIONS_ORDER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_FINE_TUNING_CHECKPOINT_PERMISSIONS_ORDER_VALUES!r}")
