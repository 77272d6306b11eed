from typing import Literal

UploadObjectStatus = Literal['cancelled', 'completed', 'expired', 'pending']

UPLOAD_OBJECT_STATUS_VALUES: set[UploadObjectStatus] = { 'cancelled', 'completed', 'expired', 'pending',  }

def check_upload_object_status(value: str) -> UploadObjectStatus:
    if value in UPLOAD_OBJECT_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {UPLOAD_OBJECT_STATUS_VALUES!r}")
