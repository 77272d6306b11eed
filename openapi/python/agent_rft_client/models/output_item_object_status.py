from typing import Literal

OutputItemObjectStatus = Literal['error', 'fail', 'pass']

OUTPUT_ITEM_OBJECT_STATUS_VALUES: set[OutputItemObjectStatus] = { 'error', 'fail', 'pass',  }

def check_output_item_object_status(value: str) -> OutputItemObjectStatus:
    if value in OUTPUT_ITEM_OBJECT_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {OUTPUT_ITEM_OBJECT_STATUS_VALUES!r}")
