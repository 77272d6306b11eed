from typing import Literal

CreateCoachSessionMethodType0 = Literal['dpo', 'reinforcement', 'supervised']

CREATE_COACH_SESSION_METHOD_TYPE_0_VALUES: set[CreateCoachSessionMethodType0] = { 'dpo', 'reinforcement', 'supervised',  }

def check_create_coach_session_method_type_0(value: str) -> CreateCoachSessionMethodType0:
    if value in CREATE_COACH_SESSION_METHOD_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CREATE_COACH_SESSION_METHOD_TYPE_0_VALUES!r}")
