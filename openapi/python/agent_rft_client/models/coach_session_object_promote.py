from typing import Literal

CoachSessionObjectPromote = Literal['ask', 'automatic']

COACH_SESSION_OBJECT_PROMOTE_VALUES: set[CoachSessionObjectPromote] = { 'ask', 'automatic',  }

def check_coach_session_object_promote(value: str) -> CoachSessionObjectPromote:
    if value in COACH_SESSION_OBJECT_PROMOTE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {COACH_SESSION_OBJECT_PROMOTE_VALUES!r}")
