from typing import Literal

CoachEntryKind = Literal['chose', 'ended', 'gated', 'measured', 'paused', 'promoted', 'prompted', 'started', 'trained']

COACH_ENTRY_KIND_VALUES: set[CoachEntryKind] = { 'chose', 'ended', 'gated', 'measured', 'paused', 'promoted', 'prompted', 'started', 'trained',  }

def check_coach_entry_kind(value: str) -> CoachEntryKind:
    if value in COACH_ENTRY_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {COACH_ENTRY_KIND_VALUES!r}")
