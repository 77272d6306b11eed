from typing import Literal

TextPartType = Literal['input_text', 'output_text', 'text']

TEXT_PART_TYPE_VALUES: set[TextPartType] = { 'input_text', 'output_text', 'text',  }

def check_text_part_type(value: str) -> TextPartType:
    if value in TEXT_PART_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TEXT_PART_TYPE_VALUES!r}")
