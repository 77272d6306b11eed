from typing import Literal

PlanKnobsAutoStopType0 = Literal['off', 'pause', 'stop', 'warn']

PLAN_KNOBS_AUTO_STOP_TYPE_0_VALUES: set[PlanKnobsAutoStopType0] = { 'off', 'pause', 'stop', 'warn',  }

def check_plan_knobs_auto_stop_type_0(value: str) -> PlanKnobsAutoStopType0:
    if value in PLAN_KNOBS_AUTO_STOP_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLAN_KNOBS_AUTO_STOP_TYPE_0_VALUES!r}")
