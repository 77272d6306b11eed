from typing import Literal

ParseErrorsRuleAction = Literal['off', 'pause', 'stop', 'warn']

PARSE_ERRORS_RULE_ACTION_VALUES: set[ParseErrorsRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_parse_errors_rule_action(value: str) -> ParseErrorsRuleAction:
    if value in PARSE_ERRORS_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PARSE_ERRORS_RULE_ACTION_VALUES!r}")
