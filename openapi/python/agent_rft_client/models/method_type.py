from typing import Literal

MethodType = Literal['dpo', 'reinforcement', 'supervised']

METHOD_TYPE_VALUES: set[MethodType] = { 'dpo', 'reinforcement', 'supervised',  }

def check_method_type(value: str) -> MethodType:
    if value in METHOD_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {METHOD_TYPE_VALUES!r}")
