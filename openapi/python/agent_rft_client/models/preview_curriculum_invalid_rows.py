from typing import Literal

PreviewCurriculumInvalidRows = Literal['refuse', 'skip']

PREVIEW_CURRICULUM_INVALID_ROWS_VALUES: set[PreviewCurriculumInvalidRows] = { 'refuse', 'skip',  }

def check_preview_curriculum_invalid_rows(value: str) -> PreviewCurriculumInvalidRows:
    if value in PREVIEW_CURRICULUM_INVALID_ROWS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PREVIEW_CURRICULUM_INVALID_ROWS_VALUES!r}")
