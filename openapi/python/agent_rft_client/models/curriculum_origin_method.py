from typing import Literal

CurriculumOriginMethod = Literal['dpo', 'reinforcement', 'supervised']

CURRICULUM_ORIGIN_METHOD_VALUES: set[CurriculumOriginMethod] = { 'dpo', 'reinforcement', 'supervised',  }

def check_curriculum_origin_method(value: str) -> CurriculumOriginMethod:
    if value in CURRICULUM_ORIGIN_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CURRICULUM_ORIGIN_METHOD_VALUES!r}")
