"""Scores the form of a text: JSON that is valid by a schema, or the parts that it must have."""

from bisect import bisect_left
from collections import Counter
from functools import partial
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator
from typing_extensions import override

from app.graders.grader_model import ANSWER, Flag, TemplateText, UnitGrader, fault_at
from app.graders.json_schemas import JsonSchemaFault, TooMuchWork, check_schema, schema_fault
from app.graders.scorer import GradingPorts, Scorer, ScoreResult, unusable_grader
from app.graders.templates import SectionText
from app.graders.texts import FENCE, check_fences, fenced_blocks, text_scorer, unreadable
from app.kit.fields import pointer
from app.kit.strict_json import TooManyValues, strict_loads
from app.kit.texts import TAG


class JsonValidGrader(UnitGrader):
    """1 when the text is JSON, and valid by the schema if there is one, else 0."""

    type: Literal["json_valid"]
    name: str = Field(default="json_valid", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text."""
    json_schema: dict[str, Any] | None = None
    """JSON Schema (2020-12) of the value; its `$ref` must refer to parts of itself, because nothing
    is fetched."""
    fenced: Flag = False
    """True: the JSON may be in the only Markdown block of the text instead."""

    @property
    @override
    def compiled_field(self) -> str | None:
        return None if self.json_schema is None else "json_schema"

    @override
    def check_compiled(self) -> None:
        if self.json_schema is not None:
            check_schema(self.json_schema)

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return text_scorer(partial(self._compute, source=source), self.input, source=source)

    def _compute(self, texts: list[str], *, source: str) -> ScoreResult:
        (text,) = texts
        try:
            value = _fenced_loads(text) if self.fenced else strict_loads(text)
        except RecursionError:
            return _result(parsed=False, valid=False, reason="the JSON is nested too deeply")
        except TooManyValues as many:
            return unreadable(str(many))
        except ValueError as error:
            return _result(parsed=False, valid=False, reason=f"it is not JSON: {error}")
        if self.json_schema is None:
            return _result(parsed=True, valid=True, reason="it is valid")
        try:
            fault = schema_fault(self.json_schema, value)
        except RecursionError:
            fault = (), "it is nested too deeply to be compared with the schema"
        except JsonSchemaFault as refused:
            raise unusable_grader(str(refused), source=source) from None
        except TooMuchWork as much:
            return unreadable(str(much))
        reason = "it is valid" if fault is None else f"at '{pointer(fault[0])}': {fault[1]}"
        return _result(parsed=True, valid=fault is None, reason=reason)


def _fenced_loads(text: str) -> Any:
    """Parses a text, or else its one Markdown block, which may extend to the last fence."""
    try:
        return strict_loads(text)
    except ValueError:
        check_fences(text)
        first = next(iter(fenced_blocks(text)), None)
        if first is None:
            raise
    end = text.rfind(FENCE)
    try:
        return strict_loads(text[text.index("\n", text.index(FENCE)) : end])
    except ValueError:
        if len(fenced_blocks(text)) > 1:
            raise
    return strict_loads(first.text)


def _result(*, parsed: bool, valid: bool, reason: str) -> ScoreResult:
    return ScoreResult(
        float(parsed and valid),
        sub_scores={"parsed": float(parsed), "valid": float(valid)},
        reason=reason[:200],
    )


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
        return text_scorer(self._compute, self.input, source=source)

    def _compute(self, texts: list[str]) -> ScoreResult:
        (text,) = texts
        names = self.tags or self.sections
        parts = _tagged(text, self.tags) if self.tags else _sections(text, self.sections)
        starts = [start for start, _ in parts.values()]
        found = _longest_rise(starts) if self.ordered else len(starts)
        outside = self.only and _text_outside(text, list(parts.values()))
        alone = self.only and found > 0 and not outside  # an empty answer has nothing outside
        share = (found + alone) / (len(names) + self.only)
        missing = [name for name in names if name not in parts]
        faults = [f"'{name[:40]}' does not stand once with a text" for name in missing[:3]]
        faults += ["parts are out of order"] * (found < len(starts))
        faults += ["there is text outside of the parts"] * outside
        return ScoreResult(
            share if self.partial else float(share == 1),
            sub_scores={"parts": len(parts) / len(names), "in_order": found / len(names)},
            reason="; ".join(faults) or "every part is there",
        )


_Part = tuple[int, int]


def _tagged(text: str, tags: list[str]) -> dict[str, _Part]:
    parts = {}
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        if text.count(opening) == text.count(closing) == 1:
            start, end = text.index(opening), text.index(closing)
            if text[start + len(opening) : end].strip():
                parts[tag] = start, end + len(closing)
    return parts


def _sections(text: str, sections: list[str]) -> dict[str, _Part]:
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
        name: (start, end)
        for (name, start, body), end in sorted(
            zip(lines, ends, strict=True), key=lambda found: sections.index(found[0][0])
        )
        if counts[name] == 1 and text[body:end].strip()
    }


def _longest_rise(starts: list[int]) -> int:
    tails: list[int] = []
    for start in starts:
        at = bisect_left(tails, start)
        tails[at : at + 1] = [start]
    return len(tails)


def _text_outside(text: str, parts: list[_Part]) -> bool:
    position = 0
    for start, end in sorted(parts):
        if text[position:start].strip():
            return True
        position = max(position, end)
    return bool(text[position:].strip())
