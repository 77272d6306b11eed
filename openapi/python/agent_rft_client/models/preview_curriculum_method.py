from typing import Literal

PreviewCurriculumMethod = Literal['dpo', 'reinforcement', 'supervised']

PREVIEW_CURRICULUM_METHOD_VALUES: set[PreviewCurriculumMethod] = { 'dpo', 'reinforcement', 'supervised',  }

def check_preview_curriculum_method(value: str) -> PreviewCurriculumMethod:
    if value in PREVIEW_CURRICULUM_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PREVIEW_CURRICULUM_METHOD_VALUES!r}")
