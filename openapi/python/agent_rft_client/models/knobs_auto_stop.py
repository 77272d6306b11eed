from typing import Literal

KnobsAutoStop = Literal['off', 'pause', 'stop', 'warn']

KNOBS_AUTO_STOP_VALUES: set[KnobsAutoStop] = { 'off', 'pause', 'stop', 'warn',  }

def check_knobs_auto_stop(value: str) -> KnobsAutoStop:
    if value in KNOBS_AUTO_STOP_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {KNOBS_AUTO_STOP_VALUES!r}")
