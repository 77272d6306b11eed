from typing import Literal

CurveSplit = Literal['test', 'train', 'valid']

CURVE_SPLIT_VALUES: set[CurveSplit] = { 'test', 'train', 'valid',  }

def check_curve_split(value: str) -> CurveSplit:
    if value in CURVE_SPLIT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CURVE_SPLIT_VALUES!r}")
