from typing import Literal

CurriculumTestMethod = Literal['dpo', 'reinforcement', 'supervised']

CURRICULUM_TEST_METHOD_VALUES: set[CurriculumTestMethod] = { 'dpo', 'reinforcement', 'supervised',  }

def check_curriculum_test_method(value: str) -> CurriculumTestMethod:
    if value in CURRICULUM_TEST_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CURRICULUM_TEST_METHOD_VALUES!r}")
