from typing import Literal

ListProjectApiKeysOwnerProjectAccessType0 = Literal['active', 'any', 'inactive']

LIST_PROJECT_API_KEYS_OWNER_PROJECT_ACCESS_TYPE_0_VALUES: set[ListProjectApiKeysOwnerProjectAccessType0] = { 'active', 'any', 'inactive',  }

def check_list_project_api_keys_owner_project_access_type_0(value: str) -> ListProjectApiKeysOwnerProjectAccessType0:
    if value in LIST_PROJECT_API_KEYS_OWNER_PROJECT_ACCESS_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_PROJECT_API_KEYS_OWNER_PROJECT_ACCESS_TYPE_0_VALUES!r}")
