from typing import Literal

ToolCheckStatus = Literal['failed', 'passed', 'skipped', 'warned']

TOOL_CHECK_STATUS_VALUES: set[ToolCheckStatus] = { 'failed', 'passed', 'skipped', 'warned',  }

def check_tool_check_status(value: str) -> ToolCheckStatus:
    if value in TOOL_CHECK_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TOOL_CHECK_STATUS_VALUES!r}")
