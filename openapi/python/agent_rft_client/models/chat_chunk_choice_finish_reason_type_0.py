from typing import Literal

ChatChunkChoiceFinishReasonType0 = Literal['length', 'stop', 'tool_calls']

CHAT_CHUNK_CHOICE_FINISH_REASON_TYPE_0_VALUES: set[ChatChunkChoiceFinishReasonType0] = { 'length', 'stop', 'tool_calls',  }

def check_chat_chunk_choice_finish_reason_type_0(value: str) -> ChatChunkChoiceFinishReasonType0:
    if value in CHAT_CHUNK_CHOICE_FINISH_REASON_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHAT_CHUNK_CHOICE_FINISH_REASON_TYPE_0_VALUES!r}")
