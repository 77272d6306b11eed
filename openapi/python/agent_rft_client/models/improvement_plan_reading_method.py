from typing import Literal

ImprovementPlanReadingMethod = Literal['dpo', 'reinforcement', 'supervised']

IMPROVEMENT_PLAN_READING_METHOD_VALUES: set[ImprovementPlanReadingMethod] = { 'dpo', 'reinforcement', 'supervised',  }

def check_improvement_plan_reading_method(value: str) -> ImprovementPlanReadingMethod:
    if value in IMPROVEMENT_PLAN_READING_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {IMPROVEMENT_PLAN_READING_METHOD_VALUES!r}")
