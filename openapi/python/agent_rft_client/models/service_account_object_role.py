from typing import Literal

ServiceAccountObjectRole = Literal['member', 'none', 'owner']

SERVICE_ACCOUNT_OBJECT_ROLE_VALUES: set[ServiceAccountObjectRole] = { 'member', 'none', 'owner',  }

def check_service_account_object_role(value: str) -> ServiceAccountObjectRole:
    if value in SERVICE_ACCOUNT_OBJECT_ROLE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SERVICE_ACCOUNT_OBJECT_ROLE_VALUES!r}")
