"""`string_check`: a comparison of two texts. Source: the hosted graders guide."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from app.domain.documents.pointers import Path
from app.domain.graders.grader_model import UnitGrader
from app.domain.graders.judge_prompts import TemplateText


class StringCheckGrader(UnitGrader):
    """A comparison of two texts: 1 when it holds, else 0."""

    passing_score: ClassVar[float | None] = 1.0
    type: Literal["string_check"]
    name: str = Field(default="string_check", min_length=1, max_length=256)
    input: TemplateText
    """Template of the text that is checked, such as `{{sample.output_text}}`."""
    reference: TemplateText
    """Template of the text that it is compared with."""
    operation: Literal["eq", "ne", "neq", "like", "ilike"]
    """`like`: input contains reference; `ilike` ignores case; `neq` is `ne`."""

    @property
    @override
    def empty_texts(self) -> Sequence[tuple[Path, str]]:
        if self.reference or self.operation not in ("like", "ilike"):
            return ()
        return [(("reference",), "it is empty, and every text contains an empty one")]
