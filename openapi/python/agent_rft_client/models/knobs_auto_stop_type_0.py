from typing import Literal

KnobsAutoStopType0 = Literal['off', 'pause', 'stop', 'warn']

KNOBS_AUTO_STOP_TYPE_0_VALUES: set[KnobsAutoStopType0] = { 'off', 'pause', 'stop', 'warn',  }

def check_knobs_auto_stop_type_0(value: str) -> KnobsAutoStopType0:
    if value in KNOBS_AUTO_STOP_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {KNOBS_AUTO_STOP_TYPE_0_VALUES!r}")
