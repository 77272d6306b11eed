from typing import Literal

KnobExplanationKnob = Literal['auto_stop', 'creativity', 'drift_guard', 'effort', 'practice_mode', 'target']

KNOB_EXPLANATION_KNOB_VALUES: set[KnobExplanationKnob] = { 'auto_stop', 'creativity', 'drift_guard', 'effort', 'practice_mode', 'target',  }

def check_knob_explanation_knob(value: str) -> KnobExplanationKnob:
    if value in KNOB_EXPLANATION_KNOB_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {KNOB_EXPLANATION_KNOB_VALUES!r}")
