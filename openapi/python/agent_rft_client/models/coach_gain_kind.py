from typing import Literal

CoachGainKind = Literal['all', 'cluster', 'tag']

COACH_GAIN_KIND_VALUES: set[CoachGainKind] = { 'all', 'cluster', 'tag',  }

def check_coach_gain_kind(value: str) -> CoachGainKind:
    if value in COACH_GAIN_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {COACH_GAIN_KIND_VALUES!r}")
