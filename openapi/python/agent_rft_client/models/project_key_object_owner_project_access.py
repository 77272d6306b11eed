from typing import Literal

ProjectKeyObjectOwnerProjectAccess = Literal['active', 'inactive']

PROJECT_KEY_OBJECT_OWNER_PROJECT_ACCESS_VALUES: set[ProjectKeyObjectOwnerProjectAccess] = { 'active', 'inactive',  }

def check_project_key_object_owner_project_access(value: str) -> ProjectKeyObjectOwnerProjectAccess:
    if value in PROJECT_KEY_OBJECT_OWNER_PROJECT_ACCESS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROJECT_KEY_OBJECT_OWNER_PROJECT_ACCESS_VALUES!r}")
