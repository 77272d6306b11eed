from typing import Literal

ProjectObjectStatus = Literal['active', 'archived']

PROJECT_OBJECT_STATUS_VALUES: set[ProjectObjectStatus] = { 'active', 'archived',  }

def check_project_object_status(value: str) -> ProjectObjectStatus:
    if value in PROJECT_OBJECT_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROJECT_OBJECT_STATUS_VALUES!r}")
