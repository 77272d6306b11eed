from typing import Literal

ChatResponseFormatType = Literal['json_object', 'json_schema', 'text']

CHAT_RESPONSE_FORMAT_TYPE_VALUES: set[ChatResponseFormatType] = { 'json_object', 'json_schema', 'text',  }

def check_chat_response_format_type(value: str) -> ChatResponseFormatType:
    if value in CHAT_RESPONSE_FORMAT_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHAT_RESPONSE_FORMAT_TYPE_VALUES!r}")
