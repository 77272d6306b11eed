from typing import Literal

TargetRuleAction = Literal['off', 'pause', 'stop', 'warn']

TARGET_RULE_ACTION_VALUES: set[TargetRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_target_rule_action(value: str) -> TargetRuleAction:
    if value in TARGET_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TARGET_RULE_ACTION_VALUES!r}")
