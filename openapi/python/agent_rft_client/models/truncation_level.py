from typing import Literal

TruncationLevel = Literal['sequence', 'token']

TRUNCATION_LEVEL_VALUES: set[TruncationLevel] = { 'sequence', 'token',  }

def check_truncation_level(value: str) -> TruncationLevel:
    if value in TRUNCATION_LEVEL_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TRUNCATION_LEVEL_VALUES!r}")
