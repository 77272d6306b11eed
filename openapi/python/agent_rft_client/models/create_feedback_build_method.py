from typing import Literal

CreateFeedbackBuildMethod = Literal['dpo', 'supervised']

CREATE_FEEDBACK_BUILD_METHOD_VALUES: set[CreateFeedbackBuildMethod] = { 'dpo', 'supervised',  }

def check_create_feedback_build_method(value: str) -> CreateFeedbackBuildMethod:
    if value in CREATE_FEEDBACK_BUILD_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CREATE_FEEDBACK_BUILD_METHOD_VALUES!r}")
