from typing import Literal

CompileImprovementPlanMethodType0 = Literal['dpo', 'reinforcement', 'supervised']

COMPILE_IMPROVEMENT_PLAN_METHOD_TYPE_0_VALUES: set[CompileImprovementPlanMethodType0] = { 'dpo', 'reinforcement', 'supervised',  }

def check_compile_improvement_plan_method_type_0(value: str) -> CompileImprovementPlanMethodType0:
    if value in COMPILE_IMPROVEMENT_PLAN_METHOD_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {COMPILE_IMPROVEMENT_PLAN_METHOD_TYPE_0_VALUES!r}")
