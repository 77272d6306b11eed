from typing import Literal

CurriculumOriginInvalidRows = Literal['refuse', 'skip']

CURRICULUM_ORIGIN_INVALID_ROWS_VALUES: set[CurriculumOriginInvalidRows] = { 'refuse', 'skip',  }

def check_curriculum_origin_invalid_rows(value: str) -> CurriculumOriginInvalidRows:
    if value in CURRICULUM_ORIGIN_INVALID_ROWS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CURRICULUM_ORIGIN_INVALID_ROWS_VALUES!r}")
