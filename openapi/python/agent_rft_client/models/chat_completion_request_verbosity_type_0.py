from typing import Literal

ChatCompletionRequestVerbosityType0 = Literal['high', 'low', 'medium']

CHAT_COMPLETION_REQUEST_VERBOSITY_TYPE_0_VALUES: set[ChatCompletionRequestVerbosityType0] = { 'high', 'low', 'medium',  }

def check_chat_completion_request_verbosity_type_0(value: str) -> ChatCompletionRequestVerbosityType0:
    if value in CHAT_COMPLETION_REQUEST_VERBOSITY_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHAT_COMPLETION_REQUEST_VERBOSITY_TYPE_0_VALUES!r}")
