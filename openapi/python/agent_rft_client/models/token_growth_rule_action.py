from typing import Literal

TokenGrowthRuleAction = Literal['off', 'pause', 'stop', 'warn']

TOKEN_GROWTH_RULE_ACTION_VALUES: set[TokenGrowthRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_token_growth_rule_action(value: str) -> TokenGrowthRuleAction:
    if value in TOKEN_GROWTH_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TOKEN_GROWTH_RULE_ACTION_VALUES!r}")
