from typing import Literal

AdvantageOptionsType = Literal['batch_std', 'centred', 'leave_one_out', 'std']

ADVANTAGE_OPTIONS_TYPE_VALUES: set[AdvantageOptionsType] = { 'batch_std', 'centred', 'leave_one_out', 'std',  }

def check_advantage_options_type(value: str) -> AdvantageOptionsType:
    if value in ADVANTAGE_OPTIONS_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ADVANTAGE_OPTIONS_TYPE_VALUES!r}")
