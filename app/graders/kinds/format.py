"""Scores the share of the required parts that an answer has, in their order."""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass

from typing_extensions import override

from app.graders.scorer import ScoreResult
from app.graders.text_definitions import FormatGrader
from app.graders.text_scorer import TextScorer


@dataclass(frozen=True, slots=True)
class _FormatPart:
    """A part that occurs once in the text and is not empty."""

    start: int
    end: int


class FormatScorer(TextScorer):
    def __init__(self, spec: FormatGrader, *, source: str) -> None:
        super().__init__([spec.input], source=source)
        self._spec = spec

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
