from typing import Literal

PlateauRuleAction = Literal['off', 'pause', 'stop', 'warn']

PLATEAU_RULE_ACTION_VALUES: set[PlateauRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_plateau_rule_action(value: str) -> PlateauRuleAction:
    if value in PLATEAU_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLATEAU_RULE_ACTION_VALUES!r}")
