from typing import Literal

PlanKnobsEffortType0 = Literal['light', 'maximum', 'standard', 'strong']

PLAN_KNOBS_EFFORT_TYPE_0_VALUES: set[PlanKnobsEffortType0] = { 'light', 'maximum', 'standard', 'strong',  }

def check_plan_knobs_effort_type_0(value: str) -> PlanKnobsEffortType0:
    if value in PLAN_KNOBS_EFFORT_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLAN_KNOBS_EFFORT_TYPE_0_VALUES!r}")
