from typing import Literal

CoachWeaknessKind = Literal['all', 'cluster', 'component', 'failing_tool', 'stop_reason', 'tag']

COACH_WEAKNESS_KIND_VALUES: set[CoachWeaknessKind] = { 'all', 'cluster', 'component', 'failing_tool', 'stop_reason', 'tag',  }

def check_coach_weakness_kind(value: str) -> CoachWeaknessKind:
    if value in COACH_WEAKNESS_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {COACH_WEAKNESS_KIND_VALUES!r}")
