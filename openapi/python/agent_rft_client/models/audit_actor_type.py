from typing import Literal

AuditActorType = Literal['api_key', 'command_line', 'session']

AUDIT_ACTOR_TYPE_VALUES: set[AuditActorType] = { 'api_key', 'command_line', 'session',  }

def check_audit_actor_type(value: str) -> AuditActorType:
    if value in AUDIT_ACTOR_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {AUDIT_ACTOR_TYPE_VALUES!r}")
