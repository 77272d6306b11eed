from typing import Literal

DroppedFeedbackReason = Literal['correction_changes_nothing', 'correction_repeats_rejected', 'duplicate', 'invalid_row', 'no_opposite', 'not_for_this_method', 'outvoted', 'pair_limit', 'preference_cycle', 'tied']

DROPPED_FEEDBACK_REASON_VALUES: set[DroppedFeedbackReason] = { 'correction_changes_nothing', 'correction_repeats_rejected', 'duplicate', 'invalid_row', 'no_opposite', 'not_for_this_method', 'outvoted', 'pair_limit', 'preference_cycle', 'tied',  }

def check_dropped_feedback_reason(value: str) -> DroppedFeedbackReason:
    if value in DROPPED_FEEDBACK_REASON_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DROPPED_FEEDBACK_REASON_VALUES!r}")
