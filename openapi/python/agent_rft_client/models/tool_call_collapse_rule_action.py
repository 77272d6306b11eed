from typing import Literal

ToolCallCollapseRuleAction = Literal['off', 'pause', 'stop', 'warn']

TOOL_CALL_COLLAPSE_RULE_ACTION_VALUES: set[ToolCallCollapseRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_tool_call_collapse_rule_action(value: str) -> ToolCallCollapseRuleAction:
    if value in TOOL_CALL_COLLAPSE_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TOOL_CALL_COLLAPSE_RULE_ACTION_VALUES!r}")
