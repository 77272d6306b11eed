from typing import Literal

ChatSystemMessageRole = Literal['developer', 'system']

CHAT_SYSTEM_MESSAGE_ROLE_VALUES: set[ChatSystemMessageRole] = { 'developer', 'system',  }

def check_chat_system_message_role(value: str) -> ChatSystemMessageRole:
    if value in CHAT_SYSTEM_MESSAGE_ROLE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHAT_SYSTEM_MESSAGE_ROLE_VALUES!r}")
