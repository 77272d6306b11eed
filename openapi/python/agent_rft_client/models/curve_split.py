from typing import Literal

CurveSplit = Literal['report', 'test', 'train', 'valid', 'valid_base', 'valid_greedy']

CURVE_SPLIT_VALUES: set[CurveSplit] = { 'report', 'test', 'train', 'valid', 'valid_base', 'valid_greedy',  }

def check_curve_split(value: str) -> CurveSplit:
    if value in CURVE_SPLIT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CURVE_SPLIT_VALUES!r}")
