from typing import Literal

FaultSeverity = Literal['error', 'warning']

FAULT_SEVERITY_VALUES: set[FaultSeverity] = { 'error', 'warning',  }

def check_fault_severity(value: str) -> FaultSeverity:
    if value in FAULT_SEVERITY_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FAULT_SEVERITY_VALUES!r}")
