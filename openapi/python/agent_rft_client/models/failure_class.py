from typing import Literal

FailureClass = Literal['cancelled', 'endpoint_refused', 'environment_bad_reply', 'environment_error', 'environment_timeout', 'environment_unreachable', 'grader_bad_reply', 'grader_bad_score', 'grader_error', 'grader_item_missing', 'grader_item_unreadable', 'grader_timeout', 'grader_unreachable', 'tool_bad_reply', 'tool_error', 'tool_timeout', 'tool_unreachable']

FAILURE_CLASS_VALUES: set[FailureClass] = { 'cancelled', 'endpoint_refused', 'environment_bad_reply', 'environment_error', 'environment_timeout', 'environment_unreachable', 'grader_bad_reply', 'grader_bad_score', 'grader_error', 'grader_item_missing', 'grader_item_unreadable', 'grader_timeout', 'grader_unreachable', 'tool_bad_reply', 'tool_error', 'tool_timeout', 'tool_unreachable',  }

def check_failure_class(value: str) -> FailureClass:
    if value in FAILURE_CLASS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FAILURE_CLASS_VALUES!r}")
