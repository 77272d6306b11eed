"""`format`: the parts that an answer must have, and their order."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from app.domain.graders.grader_model import ANSWER, Flag, UnitGrader, fault_at
from app.domain.graders.judge_prompts import TemplateText
from app.domain.graders.templates.plain_texts import SectionText
from app.domain.texts.patterns import TAG

MAX_EXPECTED = 32
Tag = Annotated[str, StringConstraints(pattern=TAG)]
Section = Annotated[SectionText, StringConstraints(min_length=1, max_length=256)]


class FormatGrader(UnitGrader):
    """Share of the expected parts that the text has: tags, or headings that open sections."""

    type: Literal["format"]
    name: str = Field(default="format", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text."""
    tags: list[Tag] = Field(default_factory=list, max_length=MAX_EXPECTED)
    """Names of tags; each must occur once, as `<name>…</name>`, around some text."""
    sections: list[Section] = Field(default_factory=list, max_length=MAX_EXPECTED)
    """Lines that open sections; each must occur once, followed by some text before the next one."""
    ordered: Flag = True
    """True: only parts in the order of the list count."""
    only: Flag = False
    """True: text outside of the parts counts as one more missing part."""
    partial: Flag = True
    """True: the score is the share of the parts; otherwise 1 for all of them and 0 for fewer."""

    @model_validator(mode="after")
    def _one_list_of_different_parts(self) -> Self:
        if bool(self.tags) == bool(self.sections):
            raise fault_at("tags", "send either 'tags' or 'sections', with at least one entry")
        field = "tags" if self.tags else "sections"
        parts = self.tags or self.sections
        if len({part.strip() for part in parts}) != len(parts):
            raise fault_at(field, "each entry stands once")
        if any(not part.strip() or "\n" in part for part in parts):
            raise fault_at(field, "an entry must be one line that is not blank")
        return self
