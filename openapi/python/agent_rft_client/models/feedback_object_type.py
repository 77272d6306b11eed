from typing import Literal

FeedbackObjectType = Literal['correction', 'preference', 'thumbs']

FEEDBACK_OBJECT_TYPE_VALUES: set[FeedbackObjectType] = { 'correction', 'preference', 'thumbs',  }

def check_feedback_object_type(value: str) -> FeedbackObjectType:
    if value in FEEDBACK_OBJECT_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FEEDBACK_OBJECT_TYPE_VALUES!r}")
