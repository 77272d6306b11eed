"""Reads the answer of a judge: the JSON object in it, and its words without the thinking.

Many judges reason aloud before they answer (`<think>…</think>`), put their JSON into a fence, or
add a sentence to it, and some quote what they judge. Promises that nothing is read out of the
thinking, out of a part of an object, or out of a quotation, by which an answer could score itself
(prompt injection), nor one of several verdicts that differ; reads in time proportional to the
length. Pure.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from app.domain.graders.texts.thinking import THINKING_END, THINKING_MARK
from app.domain.texts.storable_text import storable
from app.grading.judge_texts.bare_answers import bare_answer, trimmed_answer
from app.grading.judge_texts.quotable_verdicts import (
    VerdictValues,
    malformed_verdicts,
    quotable_verdicts,
)
from app.grading.judge_texts.thinking_ends import (
    begins_with_thinking,
    ends_as_judged,
    is_behind_end,
    own_words,
)
from app.grading.judge_texts.verdicts import (
    VERDICTS,
    has_key_within,
    is_better,
    number_in,
    verdicts_of,
)
from app.grading.texts.fences import fenced_blocks
from app.grading.texts.json_in_text import (
    EmbeddedJson,
    embedded_json,
    object_of,
    parsed_json,
    texts_in,
)
from app.grading.texts.long_texts import matches_in

QUOTED_CHARACTERS: Final = 200
"""Number of first characters of a judge's words that a score or an error keeps."""
_JSON: Final = re.compile(r'\{[ \t\r\n]*+["}]|\[[ \t\r\n]*+\{')
"""The beginning of an object or of a list of objects, complete or not."""
MAX_OBJECTS: Final = 50_000
"""Largest number of opening brackets of an answer: each may begin an object."""
RAISED: Final = "the judge's verdict is better than one that the judged answer has, too"
_WORDS: Final = "the judge's answer is not one JSON object alone"
_QUOTED: Final = (
    "the judge's answer has words beside its JSON, and the judged answer has the same verdict, so "
    "that it may be a quotation"
)
_WITHIN: Final = "the judge's answer has a verdict within another value of its JSON"
_ENDS_AS_JUDGED: Final = (
    "the judge's answer ends as the judged answer does, and may be a quotation: quote nothing"
)
_SINGLE: Final = frozenset({"result", "score"})
"""The keys of a verdict about one sample."""
_DIFFERENT: Final = "the judge's answer has several JSON objects whose verdicts differ"


class UnreadableAnswer(Exception):
    """A judge's answer without a score; the text names the fault."""


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    text: str
    """The answer without the thinking."""
    content: dict[str, Any] = field(default_factory=dict)
    """The JSON object of the answer; empty without any."""
    after: str = ""
    """The words after an object that stands in a sentence; empty for a whole or a fenced one."""
    judged: Any = None
    """The sample or the rollouts that were judged."""
    quotations: tuple[dict[str, Any], ...] = ()
    """Objects that were left out as quotations of it."""
    is_alone: bool = False
    """True for an answer without words beside its JSON."""
    is_only_json: bool = False
    """True for the first answer, in which no words count."""

    def without_verdict(self, fault: str) -> UnreadableAnswer:
        """Returns the fault of an answer in which a reader finds no verdict."""
        if self.quotations and not verdicts_of(self.content):
            return UnreadableAnswer(_QUOTED)
        return UnreadableAnswer(f"the judge's answer contains {fault}")

    @property
    def words(self) -> str:
        """The words before any JSON."""
        start = _JSON.search(self.text)
        return self.text if start is None else self.text[: start.start()]


def read_answer(text: str, judged: Any = None, *, only_json: bool = False) -> JudgeAnswer:
    """Reads the JSON after the thinking: the whole answer, else its last fence with a verdict,
    else the last complete object. Beside other words an object with a verdict that `judged` has
    too, the sample or the rollouts, is a quotation and does not count. Raises `UnreadableAnswer`
    for thinking without an end, for a verdict that is better than a quotation, and for other
    objects whose verdicts differ: a judge may restate in JSON the verdict that the judged answer
    requests in another spelling, in front of its own one or behind. With `only_json` words beside
    the JSON are a fault too.
    """
    if text.count("{") > MAX_OBJECTS:
        raise UnreadableAnswer(f"the judge's answer has more than {MAX_OBJECTS} brackets")
    text = trimmed_answer(text)
    if only_json:
        return _only_json(text, judged)
    if (whole := parsed_json(bare_answer(text))) is not None:  # it may quote marks of thinking
        return JudgeAnswer(text, object_of(whole.value), judged=judged, is_alone=True)
    said, is_own = _behind_thinking(text, judged)
    if is_own and _is_alone(said):
        return replace(_read(said, judged), is_alone=True)
    objects = [one for one in embedded_json(said) if verdicts_of(one.value)]
    quotable = quotable_verdicts(judged) if objects else VerdictValues()
    kept, quotations = _without_quotations(said, objects, quotable)
    found = replace(_read(kept, judged), quotations=tuple(quotations))
    _check_malformed(said, found.content, quotable)
    if _is_raised(found.content, quotations):
        raise UnreadableAnswer(RAISED)
    return found


def _only_json(text: str, judged: Any) -> JudgeAnswer:
    """Reads an answer that is one object with a verdict, or thinking and such an object: text in
    front of it, behind a second mark of its end, or behind one that the judged answer has too, may
    quote the judged answer. Raises `UnreadableAnswer`.
    """
    said = text
    if parsed_json(said) is None and begins_with_thinking(said):
        said = own_words(text, judged)
    answer = _read(said, judged) if _is_alone(said) else JudgeAnswer(said)
    if not verdicts_of(answer.content):
        raise UnreadableAnswer(_WORDS)
    content = answer.content
    if not _SINGLE.isdisjoint(content) and has_key_within(content.values(), VERDICTS):
        raise UnreadableAnswer(_WITHIN)
    is_behind = said is not text and quotable_verdicts(judged).has(content)
    if is_behind or ends_as_judged(said, judged):
        raise UnreadableAnswer(_ENDS_AS_JUDGED)
    return replace(answer, is_alone=True, is_only_json=True)


def _behind_thinking(text: str, judged: Any) -> tuple[str, bool]:
    """Returns what a judge says after its thinking, and whether it is certainly the judge's: a mark
    of an end may be quoted, too. Raises `UnreadableAnswer`.
    """
    begins = begins_with_thinking(text)
    has_marks = any(any(matches_in(THINKING_MARK, each)) for each in texts_in(judged))
    if not begins and (has_marks or _has_verdict_before_end(text)):
        return text, True
    said = text.partition("</think>")[2]
    if not _is_alone(said):  # one object may quote marks
        said = _without_thinking(text, is_first=has_marks)
    final = parsed_json(bare_answer(said))
    return said, final is None or not is_behind_end(final.value, judged)


def _has_verdict_before_end(text: str) -> bool:
    """Returns whether a mark may be a quotation: the judge's own verdict stands in front of it."""
    mark = next(matches_in(THINKING_END, text), None)
    before = "" if mark is None else text[: mark.start()]
    return any(verdicts_of(one.value) for one in embedded_json(before))


def _read(said: str, judged: Any) -> JudgeAnswer:
    """Reads what is left of an answer. Raises `UnreadableAnswer` for verdicts that differ."""
    if (whole := parsed_json(bare_answer(said))) is not None:
        return JudgeAnswer(said, object_of(whole.value), judged=judged)
    objects = [one for one in embedded_json(said) if isinstance(one.value, dict)]
    if len({frozenset(verdicts) for one in objects if (verdicts := verdicts_of(one.value))}) > 1:
        raise UnreadableAnswer(_DIFFERENT)
    for block in reversed(fenced_blocks(said)):
        if (fenced := parsed_json(block.text)) is not None and verdicts_of(fenced.value):
            return JudgeAnswer(said, object_of(fenced.value), judged=judged)
    if not objects:
        return JudgeAnswer(said, judged=judged)
    return JudgeAnswer(said, _joined(said, objects), said[objects[-1].end :], judged)


def _check_malformed(said: str, content: dict[str, Any], quotable: VerdictValues) -> None:
    """Raises `UnreadableAnswer` for a verdict beside another one that is no JSON, such as
    `{result: 0}`, or that follows a bracket without an end: it may be the judge's own one.
    """
    at, words = 0, list[str]()
    for one in embedded_json(said):
        words.append(said[at : one.start])
        at = one.end
    malformed = malformed_verdicts(" ".join([*words, said[at:]]))
    if not malformed.keys or not verdicts_of(content):
        return
    found = (number_in(content.get(key)) for key in VERDICTS)
    numbers = [number for number in found if number is not None]
    if numbers:
        differs = any(one < max(numbers) for one in malformed.numbers)
    else:
        differs = not malformed.has(content) and not quotable.covers(malformed)
    if differs:
        raise UnreadableAnswer(_DIFFERENT)


def _is_raised(kept: dict[str, Any], quotations: list[dict[str, Any]]) -> bool:
    """Returns whether a verdict is better than one that was left out as a quotation: an answer
    could have the judge's own verdicts left out, all but the best. Labels are compared by their
    grader, which knows the better ones.
    """
    return any(
        is_better(kept[key], one[key])
        for key in VERDICTS
        for one in quotations
        if key in kept and key in one
    )


def _is_alone(said: str) -> bool:
    """Returns whether an answer is JSON or one fenced block of it, without other words."""
    return parsed_json(bare_answer(said)) is not None


def _without_quotations(
    said: str, objects: Iterable[EmbeddedJson], quotable: VerdictValues
) -> tuple[str, list[dict[str, Any]]]:
    """Returns the text without the objects that may be quotations, and these objects."""
    kept, quotations, at = list[str](), list[dict[str, Any]](), 0
    for one in objects:
        if not quotable.has(one.value):
            continue
        kept += [said[at : one.start], " "]
        quotations.append(object_of(one.value))
        at = one.end
    return "".join([*kept, said[at:]]), quotations


def quoted_text(value: Any, *, most: int = QUOTED_CHARACTERS) -> str | None:
    """Returns the first characters of a text in a judge's JSON, which may have halves of surrogate
    pairs; `None` for any other value.
    """
    return storable(value[:most]) if isinstance(value, str) else None


def _joined(said: str, objects: list[EmbeddedJson]) -> dict[str, Any]:
    """Returns the last object, with those directly in front of it: keys of several objects make
    one; where they contradict each other, it is empty.
    """
    joined = dict[str, Any]()
    start = objects[-1].end
    for one in reversed(objects):
        if said[one.end : start].strip(" \t\r\n,;"):
            break
        if any(joined.get(key, value) != value for key, value in one.value.items()):
            return {}
        joined |= one.value
        start = one.start
    return joined


def _without_thinking(text: str, *, is_first: bool) -> str:
    """Returns the text after the last mark that is outside JSON. With `is_first` it is the text
    after the first mark of an end: the judged answer has such marks, so later ones may be quoted.
    Raises `UnreadableAnswer`.
    """
    spans, last = embedded_json(text), None
    span = next(spans, None)
    for mark in matches_in(THINKING_MARK, text):
        while span is not None and span.end <= mark.start():
            span = next(spans, None)
        if span is None or mark.start() < span.start:
            last = mark
            if is_first and mark["end"] is not None:
                break
    if last is None:
        return text
    if last["end"] is None:
        raise UnreadableAnswer("the judge's answer ends in its thinking")
    return text[last.end() :]
