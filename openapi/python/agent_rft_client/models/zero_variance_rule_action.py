from typing import Literal

ZeroVarianceRuleAction = Literal['off', 'pause', 'stop', 'warn']

ZERO_VARIANCE_RULE_ACTION_VALUES: set[ZeroVarianceRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_zero_variance_rule_action(value: str) -> ZeroVarianceRuleAction:
    if value in ZERO_VARIANCE_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ZERO_VARIANCE_RULE_ACTION_VALUES!r}")
