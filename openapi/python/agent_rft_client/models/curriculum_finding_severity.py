from typing import Literal

CurriculumFindingSeverity = Literal['error', 'info', 'warning']

CURRICULUM_FINDING_SEVERITY_VALUES: set[CurriculumFindingSeverity] = { 'error', 'info', 'warning',  }

def check_curriculum_finding_severity(value: str) -> CurriculumFindingSeverity:
    if value in CURRICULUM_FINDING_SEVERITY_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CURRICULUM_FINDING_SEVERITY_VALUES!r}")
