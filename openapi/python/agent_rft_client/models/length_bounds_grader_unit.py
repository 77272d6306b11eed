from typing import Literal

LengthBoundsGraderUnit = Literal['characters', 'items', 'tokens', 'words']

LENGTH_BOUNDS_GRADER_UNIT_VALUES: set[LengthBoundsGraderUnit] = { 'characters', 'items', 'tokens', 'words',  }

def check_length_bounds_grader_unit(value: str) -> LengthBoundsGraderUnit:
    if value in LENGTH_BOUNDS_GRADER_UNIT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LENGTH_BOUNDS_GRADER_UNIT_VALUES!r}")
