from typing import Literal

ImprovementPlanMethod = Literal['dpo', 'reinforcement', 'supervised']

IMPROVEMENT_PLAN_METHOD_VALUES: set[ImprovementPlanMethod] = { 'dpo', 'reinforcement', 'supervised',  }

def check_improvement_plan_method(value: str) -> ImprovementPlanMethod:
    if value in IMPROVEMENT_PLAN_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {IMPROVEMENT_PLAN_METHOD_VALUES!r}")
