from typing import Literal

NothingToLearnOptionsAction = Literal['fail', 'off', 'warn']

NOTHING_TO_LEARN_OPTIONS_ACTION_VALUES: set[NothingToLearnOptionsAction] = { 'fail', 'off', 'warn',  }

def check_nothing_to_learn_options_action(value: str) -> NothingToLearnOptionsAction:
    if value in NOTHING_TO_LEARN_OPTIONS_ACTION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NOTHING_TO_LEARN_OPTIONS_ACTION_VALUES!r}")
