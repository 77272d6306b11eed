from typing import Literal

ToolCallGraderSource = Literal['auto', 'last_turn', 'rollout', 'text']

TOOL_CALL_GRADER_SOURCE_VALUES: set[ToolCallGraderSource] = { 'auto', 'last_turn', 'rollout', 'text',  }

def check_tool_call_grader_source(value: str) -> ToolCallGraderSource:
    if value in TOOL_CALL_GRADER_SOURCE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TOOL_CALL_GRADER_SOURCE_VALUES!r}")
