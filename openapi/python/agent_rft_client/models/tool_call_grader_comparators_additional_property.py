from typing import Literal

ToolCallGraderComparatorsAdditionalProperty = Literal['any', 'contains', 'exact', 'ignore_case', 'number', 'unordered']

TOOL_CALL_GRADER_COMPARATORS_ADDITIONAL_PROPERTY_VALUES: set[ToolCallGraderComparatorsAdditionalProperty] = { 'any', 'contains', 'exact', 'ignore_case', 'number', 'unordered',  }

def check_tool_call_grader_comparators_additional_property(value: str) -> ToolCallGraderComparatorsAdditionalProperty:
    if value in TOOL_CALL_GRADER_COMPARATORS_ADDITIONAL_PROPERTY_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TOOL_CALL_GRADER_COMPARATORS_ADDITIONAL_PROPERTY_VALUES!r}")
