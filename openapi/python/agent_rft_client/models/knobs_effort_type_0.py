from typing import Literal

KnobsEffortType0 = Literal['light', 'maximum', 'standard', 'strong']

KNOBS_EFFORT_TYPE_0_VALUES: set[KnobsEffortType0] = { 'light', 'maximum', 'standard', 'strong',  }

def check_knobs_effort_type_0(value: str) -> KnobsEffortType0:
    if value in KNOBS_EFFORT_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {KNOBS_EFFORT_TYPE_0_VALUES!r}")
