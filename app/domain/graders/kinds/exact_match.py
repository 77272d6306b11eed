"""`exact_match`: equality of two texts, with options that relax it."""

from typing import Literal

from pydantic import Field

from app.domain.graders.grader_model import ANSWER, Flag, UnitGrader
from app.domain.graders.judge_prompts import TemplateText

Normalisation = Literal["none", "NFC", "NFD", "NFKC", "NFKD"]


class ExactMatchGrader(UnitGrader):
    """1 when two texts are equal, else 0."""

    type: Literal["exact_match"]
    name: str = Field(default="exact_match", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text that is compared."""
    reference: TemplateText
    """Template of the text that it must equal."""
    strip: Flag = True
    """True ignores white space at both ends."""
    ignore_case: Flag = False
    """True ignores case, by Unicode case folding."""
    unicode: Normalisation = "NFC"
    """Unicode normal form in which texts are compared."""
    numbers: Flag = False
    """True compares two numbers by their values, so that `$1,000` equals `1e3`."""
