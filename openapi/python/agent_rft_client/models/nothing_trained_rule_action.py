from typing import Literal

NothingTrainedRuleAction = Literal['off', 'pause', 'stop', 'warn']

NOTHING_TRAINED_RULE_ACTION_VALUES: set[NothingTrainedRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_nothing_trained_rule_action(value: str) -> NothingTrainedRuleAction:
    if value in NOTHING_TRAINED_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NOTHING_TRAINED_RULE_ACTION_VALUES!r}")
