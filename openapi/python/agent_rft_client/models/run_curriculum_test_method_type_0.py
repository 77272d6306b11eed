from typing import Literal

RunCurriculumTestMethodType0 = Literal['dpo', 'reinforcement', 'supervised']

RUN_CURRICULUM_TEST_METHOD_TYPE_0_VALUES: set[RunCurriculumTestMethodType0] = { 'dpo', 'reinforcement', 'supervised',  }

def check_run_curriculum_test_method_type_0(value: str) -> RunCurriculumTestMethodType0:
    if value in RUN_CURRICULUM_TEST_METHOD_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RUN_CURRICULUM_TEST_METHOD_TYPE_0_VALUES!r}")
