"""`contains`: looks for several needles in a text."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field
from typing_extensions import override

from app.domain.documents.pointers import Path
from app.domain.graders.grader_model import ANSWER, MAX_PARTS, Flag, UnitGrader
from app.domain.graders.judge_prompts import TemplateText


class ContainsGrader(UnitGrader):
    """1 when a text contains any or all of the needles; or the share of needles that it
    contains.
    """

    type: Literal["contains"]
    name: str = Field(default="contains", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text that is searched."""
    needles: list[TemplateText] = Field(min_length=1, max_length=MAX_PARTS)
    """Templates of the texts that are looked for; an empty one is never found."""
    match: Literal["any", "all", "share"] = "all"
    """`any`, `all`: 1 if any or all needles are found; `share`: the share of found needles."""
    ignore_case: Flag = False
    """True ignores case, by Unicode case folding."""

    @property
    @override
    def empty_texts(self) -> Sequence[tuple[Path, str]]:
        reason = "it is empty, and an empty text is never found"
        return [(("needles", n), reason) for n, needle in enumerate(self.needles) if not needle]
