from typing import Literal

FeedbackBuildObjectMethod = Literal['dpo', 'supervised']

FEEDBACK_BUILD_OBJECT_METHOD_VALUES: set[FeedbackBuildObjectMethod] = { 'dpo', 'supervised',  }

def check_feedback_build_object_method(value: str) -> FeedbackBuildObjectMethod:
    if value in FEEDBACK_BUILD_OBJECT_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FEEDBACK_BUILD_OBJECT_METHOD_VALUES!r}")
