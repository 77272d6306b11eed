from typing import Literal

StudentChatReasoningEffortType0 = Literal['default', 'high', 'low', 'max', 'medium', 'minimal', 'none', 'xhigh']

STUDENT_CHAT_REASONING_EFFORT_TYPE_0_VALUES: set[StudentChatReasoningEffortType0] = { 'default', 'high', 'low', 'max', 'medium', 'minimal', 'none', 'xhigh',  }

def check_student_chat_reasoning_effort_type_0(value: str) -> StudentChatReasoningEffortType0:
    if value in STUDENT_CHAT_REASONING_EFFORT_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STUDENT_CHAT_REASONING_EFFORT_TYPE_0_VALUES!r}")
