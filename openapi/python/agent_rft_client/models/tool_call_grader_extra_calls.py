from typing import Literal

ToolCallGraderExtraCalls = Literal['allow', 'count']

TOOL_CALL_GRADER_EXTRA_CALLS_VALUES: set[ToolCallGraderExtraCalls] = { 'allow', 'count',  }

def check_tool_call_grader_extra_calls(value: str) -> ToolCallGraderExtraCalls:
    if value in TOOL_CALL_GRADER_EXTRA_CALLS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TOOL_CALL_GRADER_EXTRA_CALLS_VALUES!r}")
