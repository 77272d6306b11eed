from typing import Literal

FeedbackFindingKind = Literal['correction_repeats_rejected', 'duplicate', 'preference_cycle', 'thumbs_both_ways']

FEEDBACK_FINDING_KIND_VALUES: set[FeedbackFindingKind] = { 'correction_repeats_rejected', 'duplicate', 'preference_cycle', 'thumbs_both_ways',  }

def check_feedback_finding_kind(value: str) -> FeedbackFindingKind:
    if value in FEEDBACK_FINDING_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FEEDBACK_FINDING_KIND_VALUES!r}")
