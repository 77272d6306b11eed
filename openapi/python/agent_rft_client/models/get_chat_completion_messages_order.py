from typing import Literal

GetChatCompletionMessagesOrder = Literal['asc', 'desc']

GET_CHAT_COMPLETION_MESSAGES_ORDER_VALUES: set[GetChatCompletionMessagesOrder] = { 'asc', 'desc',  }

def check_get_chat_completion_messages_order(value: str) -> GetChatCompletionMessagesOrder:
    if value in GET_CHAT_COMPLETION_MESSAGES_ORDER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GET_CHAT_COMPLETION_MESSAGES_ORDER_VALUES!r}")
