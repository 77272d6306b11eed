from typing import Literal

KnobsPracticeModeType0 = Literal['balanced', 'custom', 'quick', 'thorough']

KNOBS_PRACTICE_MODE_TYPE_0_VALUES: set[KnobsPracticeModeType0] = { 'balanced', 'custom', 'quick', 'thorough',  }

def check_knobs_practice_mode_type_0(value: str) -> KnobsPracticeModeType0:
    if value in KNOBS_PRACTICE_MODE_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {KNOBS_PRACTICE_MODE_TYPE_0_VALUES!r}")
