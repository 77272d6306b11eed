from typing import Literal

GapRuleAction = Literal['off', 'pause', 'stop', 'warn']

GAP_RULE_ACTION_VALUES: set[GapRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_gap_rule_action(value: str) -> GapRuleAction:
    if value in GAP_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GAP_RULE_ACTION_VALUES!r}")
