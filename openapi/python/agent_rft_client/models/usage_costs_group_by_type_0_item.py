from typing import Literal

UsageCostsGroupByType0Item = Literal['api_key_id', 'line_item', 'project_id']

USAGE_COSTS_GROUP_BY_TYPE_0_ITEM_VALUES: set[UsageCostsGroupByType0Item] = { 'api_key_id', 'line_item', 'project_id',  }

def check_usage_costs_group_by_type_0_item(value: str) -> UsageCostsGroupByType0Item:
    if value in USAGE_COSTS_GROUP_BY_TYPE_0_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {USAGE_COSTS_GROUP_BY_TYPE_0_ITEM_VALUES!r}")
