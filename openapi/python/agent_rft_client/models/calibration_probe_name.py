from typing import Literal

CalibrationProbeName = Literal['echo', 'empty', 'format_only', 'keywords', 'overlong']

CALIBRATION_PROBE_NAME_VALUES: set[CalibrationProbeName] = { 'echo', 'empty', 'format_only', 'keywords', 'overlong',  }

def check_calibration_probe_name(value: str) -> CalibrationProbeName:
    if value in CALIBRATION_PROBE_NAME_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CALIBRATION_PROBE_NAME_VALUES!r}")
