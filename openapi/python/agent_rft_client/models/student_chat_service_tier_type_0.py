from typing import Literal

StudentChatServiceTierType0 = Literal['auto', 'default', 'flex', 'priority', 'scale']

STUDENT_CHAT_SERVICE_TIER_TYPE_0_VALUES: set[StudentChatServiceTierType0] = { 'auto', 'default', 'flex', 'priority', 'scale',  }

def check_student_chat_service_tier_type_0(value: str) -> StudentChatServiceTierType0:
    if value in STUDENT_CHAT_SERVICE_TIER_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STUDENT_CHAT_SERVICE_TIER_TYPE_0_VALUES!r}")
