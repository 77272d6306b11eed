from typing import Literal

PlanKnobsPracticeModeType0 = Literal['balanced', 'custom', 'quick', 'thorough']

PLAN_KNOBS_PRACTICE_MODE_TYPE_0_VALUES: set[PlanKnobsPracticeModeType0] = { 'balanced', 'custom', 'quick', 'thorough',  }

def check_plan_knobs_practice_mode_type_0(value: str) -> PlanKnobsPracticeModeType0:
    if value in PLAN_KNOBS_PRACTICE_MODE_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLAN_KNOBS_PRACTICE_MODE_TYPE_0_VALUES!r}")
