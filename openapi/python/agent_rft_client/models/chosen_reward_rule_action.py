from typing import Literal

ChosenRewardRuleAction = Literal['off', 'pause', 'stop', 'warn']

CHOSEN_REWARD_RULE_ACTION_VALUES: set[ChosenRewardRuleAction] = { 'off', 'pause', 'stop', 'warn',  }

def check_chosen_reward_rule_action(value: str) -> ChosenRewardRuleAction:
    if value in CHOSEN_REWARD_RULE_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHOSEN_REWARD_RULE_ACTION_VALUES!r}")
