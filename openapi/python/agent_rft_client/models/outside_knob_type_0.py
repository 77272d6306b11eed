from typing import Literal

OutsideKnobType0 = Literal['auto_stop', 'creativity', 'drift_guard', 'effort', 'practice_mode', 'target']

OUTSIDE_KNOB_TYPE_0_VALUES: set[OutsideKnobType0] = { 'auto_stop', 'creativity', 'drift_guard', 'effort', 'practice_mode', 'target',  }

def check_outside_knob_type_0(value: str) -> OutsideKnobType0:
    if value in OUTSIDE_KNOB_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {OUTSIDE_KNOB_TYPE_0_VALUES!r}")
