from typing import Literal

CreateFeedbackRatingType0 = Literal['down', 'up']

CREATE_FEEDBACK_RATING_TYPE_0_VALUES: set[CreateFeedbackRatingType0] = { 'down', 'up',  }

def check_create_feedback_rating_type_0(value: str) -> CreateFeedbackRatingType0:
    if value in CREATE_FEEDBACK_RATING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CREATE_FEEDBACK_RATING_TYPE_0_VALUES!r}")
