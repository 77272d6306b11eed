from typing import Literal

EstimateBasis = Literal['assumption', 'history']

ESTIMATE_BASIS_VALUES: set[EstimateBasis] = { 'assumption', 'history',  }

def check_estimate_basis(value: str) -> EstimateBasis:
    if value in ESTIMATE_BASIS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ESTIMATE_BASIS_VALUES!r}")
