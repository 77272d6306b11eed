from typing import Literal

UpdateServiceAccountRoleType0 = Literal['member', 'owner']

UPDATE_SERVICE_ACCOUNT_ROLE_TYPE_0_VALUES: set[UpdateServiceAccountRoleType0] = { 'member', 'owner',  }

def check_update_service_account_role_type_0(value: str) -> UpdateServiceAccountRoleType0:
    if value in UPDATE_SERVICE_ACCOUNT_ROLE_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {UPDATE_SERVICE_ACCOUNT_ROLE_TYPE_0_VALUES!r}")
