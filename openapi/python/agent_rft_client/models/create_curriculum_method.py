from typing import Literal

CreateCurriculumMethod = Literal['dpo', 'reinforcement', 'supervised']

CREATE_CURRICULUM_METHOD_VALUES: set[CreateCurriculumMethod] = { 'dpo', 'reinforcement', 'supervised',  }

def check_create_curriculum_method(value: str) -> CreateCurriculumMethod:
    if value in CREATE_CURRICULUM_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CREATE_CURRICULUM_METHOD_VALUES!r}")
