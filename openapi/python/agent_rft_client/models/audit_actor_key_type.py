from typing import Literal

AuditActorKeyType = Literal['service_account', 'user']

AUDIT_ACTOR_KEY_TYPE_VALUES: set[AuditActorKeyType] = { 'service_account', 'user',  }

def check_audit_actor_key_type(value: str) -> AuditActorKeyType:
    if value in AUDIT_ACTOR_KEY_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {AUDIT_ACTOR_KEY_TYPE_VALUES!r}")
