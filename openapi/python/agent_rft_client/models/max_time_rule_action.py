from typing import Literal

MaxTimeRuleAction = Literal['off', 'pause', 'stop', 'warn']

MAX_TIME_RULE_ACTION_VALUES: set[MaxTimeRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_max_time_rule_action(value: str) -> MaxTimeRuleAction:
    if value in MAX_TIME_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MAX_TIME_RULE_ACTION_VALUES!r}")
