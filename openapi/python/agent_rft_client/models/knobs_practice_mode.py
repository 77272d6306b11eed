from typing import Literal

KnobsPracticeMode = Literal['balanced', 'custom', 'quick', 'thorough']

KNOBS_PRACTICE_MODE_VALUES: set[KnobsPracticeMode] = { 'balanced', 'custom', 'quick', 'thorough',  }

def check_knobs_practice_mode(value: str) -> KnobsPracticeMode:
    if value in KNOBS_PRACTICE_MODE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {KNOBS_PRACTICE_MODE_VALUES!r}")
