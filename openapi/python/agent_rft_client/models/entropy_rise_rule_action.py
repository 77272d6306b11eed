from typing import Literal

EntropyRiseRuleAction = Literal['off', 'pause', 'stop', 'warn']

ENTROPY_RISE_RULE_ACTION_VALUES: set[EntropyRiseRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_entropy_rise_rule_action(value: str) -> EntropyRiseRuleAction:
    if value in ENTROPY_RISE_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ENTROPY_RISE_RULE_ACTION_VALUES!r}")
