from typing import Literal

FeedbackObjectRatingType0 = Literal['down', 'up']

FEEDBACK_OBJECT_RATING_TYPE_0_VALUES: set[FeedbackObjectRatingType0] = { 'down', 'up',  }

def check_feedback_object_rating_type_0(value: str) -> FeedbackObjectRatingType0:
    if value in FEEDBACK_OBJECT_RATING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FEEDBACK_OBJECT_RATING_TYPE_0_VALUES!r}")
