"""Scores the share of the required parts that an answer has, in their order."""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator
from typing_extensions import override

from app.graders.grader_model import ANSWER, Flag, TemplateText, UnitGrader, fault_at
from app.graders.scorer import GradingPorts, Scorer, ScoreResult
from app.graders.templates import SectionText
from app.graders.text_scorer import TextScorer
from app.kit.texts import TAG

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

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return FormatScorer(self, [self.input], source=source)


@dataclass(frozen=True, slots=True)
class _FormatPart:
    """A part that occurs once in the text and is not empty."""

    start: int
    end: int


class FormatScorer(TextScorer[FormatGrader]):
    @override
    def compute(self, texts: list[str]) -> ScoreResult:
        (text,) = texts
        spec = self._spec
        names = spec.tags or spec.sections
        parts = _tagged(text, spec.tags) if spec.tags else _sections(text, spec.sections)
        starts = [part.start for part in parts.values()]
        found = _longest_rise(starts) if spec.ordered else len(starts)
        expected = len(names) + spec.only
        outside = spec.only and _text_outside(text, list(parts.values()))
        alone = spec.only and found > 0 and not outside  # an empty answer has nothing outside
        share = (found + alone) / expected
        missing = [name for name in names if name not in parts]
        return ScoreResult(
            share if spec.partial else float(share == 1),
            sub_scores={"parts": len(parts) / len(names), "in_order": found / len(names)},
            reason=_reason(missing, in_order=found == len(starts), outside=outside),
        )


def _reason(missing: list[str], *, in_order: bool, outside: bool) -> str:
    faults = [f"'{name[:40]}' does not stand once with a text" for name in missing[:3]]
    faults += ["parts are out of order"] * (not in_order)
    faults += ["there is text outside of the parts"] * outside
    return "; ".join(faults) or "every part is there"


def _tagged(text: str, tags: list[str]) -> dict[str, _FormatPart]:
    parts = {}
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        if text.count(opening) == text.count(closing) == 1:
            start, end = text.index(opening), text.index(closing)
            if text[start + len(opening) : end].strip():
                parts[tag] = _FormatPart(start, end + len(closing))
    return parts


def _sections(text: str, sections: list[str]) -> dict[str, _FormatPart]:
    """Finds sections, each from its line to the next line of `sections`."""
    wanted = {section.strip(): section for section in sections}
    lines: list[tuple[str, int, int]] = []
    position = 0
    for line in text.splitlines(keepends=True):
        if line.strip() in wanted:
            lines.append((wanted[line.strip()], position, position + len(line)))
        position += len(line)
    ends = [*(start for _, start, _ in lines), len(text)][1:]
    counts = Counter(name for name, _, _ in lines)
    return {
        name: _FormatPart(start, end)
        for (name, start, body), end in sorted(
            zip(lines, ends, strict=True), key=lambda found: sections.index(found[0][0])
        )
        if counts[name] == 1 and text[body:end].strip()
    }


def _longest_rise(starts: list[int]) -> int:
    """Returns the length of the longest subsequence whose positions rise."""
    tails: list[int] = []
    for start in starts:
        at = bisect_left(tails, start)
        tails[at : at + 1] = [start]
    return len(tails)


def _text_outside(text: str, parts: list[_FormatPart]) -> bool:
    position = 0
    for part in sorted(parts, key=lambda each: each.start):
        if text[position : part.start].strip():
            return True
        position = max(position, part.end)
    return bool(text[position:].strip())
