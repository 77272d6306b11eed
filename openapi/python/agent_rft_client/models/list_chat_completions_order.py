from typing import Literal

ListChatCompletionsOrder = Literal['asc', 'desc']

LIST_CHAT_COMPLETIONS_ORDER_VALUES: set[ListChatCompletionsOrder] = { 'asc', 'desc',  }

def check_list_chat_completions_order(value: str) -> ListChatCompletionsOrder:
    if value in LIST_CHAT_COMPLETIONS_ORDER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_CHAT_COMPLETIONS_ORDER_VALUES!r}")
