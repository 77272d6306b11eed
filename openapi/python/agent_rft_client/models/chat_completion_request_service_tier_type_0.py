from typing import Literal

ChatCompletionRequestServiceTierType0 = Literal['auto', 'default', 'flex', 'priority', 'scale']

CHAT_COMPLETION_REQUEST_SERVICE_TIER_TYPE_0_VALUES: set[ChatCompletionRequestServiceTierType0] = { 'auto', 'default', 'flex', 'priority', 'scale',  }

def check_chat_completion_request_service_tier_type_0(value: str) -> ChatCompletionRequestServiceTierType0:
    if value in CHAT_COMPLETION_REQUEST_SERVICE_TIER_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHAT_COMPLETION_REQUEST_SERVICE_TIER_TYPE_0_VALUES!r}")
