from typing import Literal

PartObjectStatus = Literal['failing', 'ok']

PART_OBJECT_STATUS_VALUES: set[PartObjectStatus] = { 'failing', 'ok',  }

def check_part_object_status(value: str) -> PartObjectStatus:
    if value in PART_OBJECT_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PART_OBJECT_STATUS_VALUES!r}")
