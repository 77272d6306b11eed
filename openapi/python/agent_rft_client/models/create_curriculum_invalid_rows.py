from typing import Literal

CreateCurriculumInvalidRows = Literal['refuse', 'skip']

CREATE_CURRICULUM_INVALID_ROWS_VALUES: set[CreateCurriculumInvalidRows] = { 'refuse', 'skip',  }

def check_create_curriculum_invalid_rows(value: str) -> CreateCurriculumInvalidRows:
    if value in CREATE_CURRICULUM_INVALID_ROWS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CREATE_CURRICULUM_INVALID_ROWS_VALUES!r}")
