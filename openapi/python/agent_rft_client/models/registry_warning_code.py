from typing import Literal

RegistryWarningCode = Literal['constant_grader', 'unknown_parameter']

REGISTRY_WARNING_CODE_VALUES: set[RegistryWarningCode] = { 'constant_grader', 'unknown_parameter',  }

def check_registry_warning_code(value: str) -> RegistryWarningCode:
    if value in REGISTRY_WARNING_CODE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REGISTRY_WARNING_CODE_VALUES!r}")
