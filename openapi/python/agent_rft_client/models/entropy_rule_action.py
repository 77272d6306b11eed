from typing import Literal

EntropyRuleAction = Literal['off', 'pause', 'stop', 'warn']

ENTROPY_RULE_ACTION_VALUES: set[EntropyRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_entropy_rule_action(value: str) -> EntropyRuleAction:
    if value in ENTROPY_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ENTROPY_RULE_ACTION_VALUES!r}")
