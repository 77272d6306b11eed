from typing import Literal

CoachChildKind = Literal['job', 'skill']

COACH_CHILD_KIND_VALUES: set[CoachChildKind] = { 'job', 'skill',  }

def check_coach_child_kind(value: str) -> CoachChildKind:
    if value in COACH_CHILD_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {COACH_CHILD_KIND_VALUES!r}")
