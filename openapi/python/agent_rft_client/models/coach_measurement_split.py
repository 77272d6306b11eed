from typing import Literal

CoachMeasurementSplit = Literal['report', 'valid']

COACH_MEASUREMENT_SPLIT_VALUES: set[CoachMeasurementSplit] = { 'report', 'valid',  }

def check_coach_measurement_split(value: str) -> CoachMeasurementSplit:
    if value in COACH_MEASUREMENT_SPLIT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {COACH_MEASUREMENT_SPLIT_VALUES!r}")
