from typing import Literal

CreateFeedbackType = Literal['correction', 'preference', 'thumbs']

CREATE_FEEDBACK_TYPE_VALUES: set[CreateFeedbackType] = { 'correction', 'preference', 'thumbs',  }

def check_create_feedback_type(value: str) -> CreateFeedbackType:
    if value in CREATE_FEEDBACK_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CREATE_FEEDBACK_TYPE_VALUES!r}")
