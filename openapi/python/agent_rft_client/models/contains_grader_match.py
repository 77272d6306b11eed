from typing import Literal

ContainsGraderMatch = Literal['all', 'any', 'share']

CONTAINS_GRADER_MATCH_VALUES: set[ContainsGraderMatch] = { 'all', 'any', 'share',  }

def check_contains_grader_match(value: str) -> ContainsGraderMatch:
    if value in CONTAINS_GRADER_MATCH_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CONTAINS_GRADER_MATCH_VALUES!r}")
