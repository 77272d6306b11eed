from typing import Literal

ListFeedbackTypeType0 = Literal['correction', 'preference', 'thumbs']

LIST_FEEDBACK_TYPE_TYPE_0_VALUES: set[ListFeedbackTypeType0] = { 'correction', 'preference', 'thumbs',  }

def check_list_feedback_type_type_0(value: str) -> ListFeedbackTypeType0:
    if value in LIST_FEEDBACK_TYPE_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_FEEDBACK_TYPE_TYPE_0_VALUES!r}")
