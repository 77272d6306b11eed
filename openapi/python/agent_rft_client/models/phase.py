from typing import Literal

Phase = Literal['choosing', 'gating', 'measuring', 'prompting', 'training']

PHASE_VALUES: set[Phase] = { 'choosing', 'gating', 'measuring', 'prompting', 'training',  }

def check_phase(value: str) -> Phase:
    if value in PHASE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PHASE_VALUES!r}")
