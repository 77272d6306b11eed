from typing import Literal

KnobsEffort = Literal['light', 'maximum', 'standard', 'strong']

KNOBS_EFFORT_VALUES: set[KnobsEffort] = { 'light', 'maximum', 'standard', 'strong',  }

def check_knobs_effort(value: str) -> KnobsEffort:
    if value in KNOBS_EFFORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {KNOBS_EFFORT_VALUES!r}")
