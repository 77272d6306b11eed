from typing import Literal

UsageFineTuningGroupByType0Item = Literal['api_key_id', 'job_id', 'model', 'project_id']

USAGE_FINE_TUNING_GROUP_BY_TYPE_0_ITEM_VALUES: set[UsageFineTuningGroupByType0Item] = { 'api_key_id', 'job_id', 'model', 'project_id',  }

def check_usage_fine_tuning_group_by_type_0_item(value: str) -> UsageFineTuningGroupByType0Item:
    if value in USAGE_FINE_TUNING_GROUP_BY_TYPE_0_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {USAGE_FINE_TUNING_GROUP_BY_TYPE_0_ITEM_VALUES!r}")
