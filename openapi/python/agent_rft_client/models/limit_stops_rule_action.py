from typing import Literal

LimitStopsRuleAction = Literal['off', 'pause', 'stop', 'warn']

LIMIT_STOPS_RULE_ACTION_VALUES: set[LimitStopsRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_limit_stops_rule_action(value: str) -> LimitStopsRuleAction:
    if value in LIMIT_STOPS_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIMIT_STOPS_RULE_ACTION_VALUES!r}")
