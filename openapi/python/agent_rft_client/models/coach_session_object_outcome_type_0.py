from typing import Literal

CoachSessionObjectOutcomeType0 = Literal['budget', 'held', 'mastered', 'not_promoted', 'nothing_to_gain', 'plateau', 'prompt_enough', 'regression', 'reward_hack', 'target']

COACH_SESSION_OBJECT_OUTCOME_TYPE_0_VALUES: set[CoachSessionObjectOutcomeType0] = { 'budget', 'held', 'mastered', 'not_promoted', 'nothing_to_gain', 'plateau', 'prompt_enough', 'regression', 'reward_hack', 'target',  }

def check_coach_session_object_outcome_type_0(value: str) -> CoachSessionObjectOutcomeType0:
    if value in COACH_SESSION_OBJECT_OUTCOME_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {COACH_SESSION_OBJECT_OUTCOME_TYPE_0_VALUES!r}")
