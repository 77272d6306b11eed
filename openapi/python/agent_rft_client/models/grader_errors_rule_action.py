from typing import Literal

GraderErrorsRuleAction = Literal['off', 'pause', 'stop', 'warn']

GRADER_ERRORS_RULE_ACTION_VALUES: set[GraderErrorsRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_grader_errors_rule_action(value: str) -> GraderErrorsRuleAction:
    if value in GRADER_ERRORS_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GRADER_ERRORS_RULE_ACTION_VALUES!r}")
