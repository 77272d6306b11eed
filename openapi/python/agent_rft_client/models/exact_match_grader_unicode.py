from typing import Literal

ExactMatchGraderUnicode = Literal['NFC', 'NFD', 'NFKC', 'NFKD', 'none']

EXACT_MATCH_GRADER_UNICODE_VALUES: set[ExactMatchGraderUnicode] = { 'NFC', 'NFD', 'NFKC', 'NFKD', 'none',  }

def check_exact_match_grader_unicode(value: str) -> ExactMatchGraderUnicode:
    if value in EXACT_MATCH_GRADER_UNICODE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXACT_MATCH_GRADER_UNICODE_VALUES!r}")
