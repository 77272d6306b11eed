from typing import Literal

NewServiceAccountRole = Literal['member', 'none']

NEW_SERVICE_ACCOUNT_ROLE_VALUES: set[NewServiceAccountRole] = { 'member', 'none',  }

def check_new_service_account_role(value: str) -> NewServiceAccountRole:
    if value in NEW_SERVICE_ACCOUNT_ROLE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NEW_SERVICE_ACCOUNT_ROLE_VALUES!r}")
