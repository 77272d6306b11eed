from typing import Literal

CoachChoicesPromote = Literal['ask', 'automatic']

COACH_CHOICES_PROMOTE_VALUES: set[CoachChoicesPromote] = { 'ask', 'automatic',  }

def check_coach_choices_promote(value: str) -> CoachChoicesPromote:
    if value in COACH_CHOICES_PROMOTE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {COACH_CHOICES_PROMOTE_VALUES!r}")
