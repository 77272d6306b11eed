from typing import Literal

MaxStepsRuleAction = Literal['off', 'pause', 'stop', 'warn']

MAX_STEPS_RULE_ACTION_VALUES: set[MaxStepsRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_max_steps_rule_action(value: str) -> MaxStepsRuleAction:
    if value in MAX_STEPS_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MAX_STEPS_RULE_ACTION_VALUES!r}")
