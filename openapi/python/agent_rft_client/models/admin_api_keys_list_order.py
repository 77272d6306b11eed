from typing import Literal

AdminApiKeysListOrder = Literal['asc', 'desc']

ADMIN_API_KEYS_LIST_ORDER_VALUES: set[AdminApiKeysListOrder] = { 'asc', 'desc',  }

def check_admin_api_keys_list_order(value: str) -> AdminApiKeysListOrder:
    if value in ADMIN_API_KEYS_LIST_ORDER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ADMIN_API_KEYS_LIST_ORDER_VALUES!r}")
