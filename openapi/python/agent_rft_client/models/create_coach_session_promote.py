from typing import Literal

CreateCoachSessionPromote = Literal['ask', 'automatic']

CREATE_COACH_SESSION_PROMOTE_VALUES: set[CreateCoachSessionPromote] = { 'ask', 'automatic',  }

def check_create_coach_session_promote(value: str) -> CreateCoachSessionPromote:
    if value in CREATE_COACH_SESSION_PROMOTE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CREATE_COACH_SESSION_PROMOTE_VALUES!r}")
