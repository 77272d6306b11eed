from typing import Literal

StudentChatToolChoiceType0 = Literal['auto', 'none', 'required']

STUDENT_CHAT_TOOL_CHOICE_TYPE_0_VALUES: set[StudentChatToolChoiceType0] = { 'auto', 'none', 'required',  }

def check_student_chat_tool_choice_type_0(value: str) -> StudentChatToolChoiceType0:
    if value in STUDENT_CHAT_TOOL_CHOICE_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STUDENT_CHAT_TOOL_CHOICE_TYPE_0_VALUES!r}")
