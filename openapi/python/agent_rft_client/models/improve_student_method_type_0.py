from typing import Literal

ImproveStudentMethodType0 = Literal['dpo', 'reinforcement', 'supervised']

IMPROVE_STUDENT_METHOD_TYPE_0_VALUES: set[ImproveStudentMethodType0] = { 'dpo', 'reinforcement', 'supervised',  }

def check_improve_student_method_type_0(value: str) -> ImproveStudentMethodType0:
    if value in IMPROVE_STUDENT_METHOD_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {IMPROVE_STUDENT_METHOD_TYPE_0_VALUES!r}")
