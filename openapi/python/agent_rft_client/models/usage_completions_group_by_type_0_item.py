from typing import Literal

UsageCompletionsGroupByType0Item = Literal['api_key_id', 'model', 'project_id']

USAGE_COMPLETIONS_GROUP_BY_TYPE_0_ITEM_VALUES: set[UsageCompletionsGroupByType0Item] = { 'api_key_id', 'model', 'project_id',  }

def check_usage_completions_group_by_type_0_item(value: str) -> UsageCompletionsGroupByType0Item:
    if value in USAGE_COMPLETIONS_GROUP_BY_TYPE_0_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {USAGE_COMPLETIONS_GROUP_BY_TYPE_0_ITEM_VALUES!r}")
