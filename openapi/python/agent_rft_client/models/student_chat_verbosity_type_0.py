from typing import Literal

StudentChatVerbosityType0 = Literal['high', 'low', 'medium']

STUDENT_CHAT_VERBOSITY_TYPE_0_VALUES: set[StudentChatVerbosityType0] = { 'high', 'low', 'medium',  }

def check_student_chat_verbosity_type_0(value: str) -> StudentChatVerbosityType0:
    if value in STUDENT_CHAT_VERBOSITY_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STUDENT_CHAT_VERBOSITY_TYPE_0_VALUES!r}")
