"""Reads the answer of a judge.

The first answer counts if it is one JSON object with a verdict, alone or behind thinking, and the
judged answer has no such verdict. In a repeated one the verdict at the coded key counts
(`coded_verdicts.py`), behind the judge's thinking. A repeated answer without this key is read as a
first one if the judged answer names no verdict of the scale at all, so that an answer cannot choose
which verdicts are lost.
An answer could score itself by a quotation (prompt injection); decision 0076 says which
quotations no rule can separate from verdicts. Reads in time proportional to the length. Pure.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from app.domain.texts.storable_text import storable
from app.grading.judge_texts.bare_answers import bare_answer, trimmed_answer
from app.grading.judge_texts.coded_verdicts import CodedKey
from app.grading.judge_texts.quotable_verdicts import quotable_verdicts
from app.grading.judge_texts.scales import NUMBERS, VerdictScale
from app.grading.judge_texts.thinking_ends import (
    begins_with_thinking,
    final_words,
    own_words,
    words_behind_thinking,
)
from app.grading.judge_texts.verdicts import VERDICTS, has_key_within
from app.grading.texts.json_in_text import object_of, parsed_json

QUOTED_CHARACTERS: Final = 200
"""Number of first characters of a judge's words that a score or an error keeps."""
MAX_OBJECTS: Final = 50_000
"""Largest number of opening brackets of an answer: each may begin an object."""
_WORDS: Final = "the judge's answer is not one JSON object alone"
_WITHIN: Final = "the judge's answer has a verdict within another value of its JSON"
_QUOTABLE: Final = (
    "the judge's verdict is one that the judged answer names too, and may be a quotation"
)
UNCLEAR: Final = "the judge's answer has no single clear verdict at the requested key"
_UNCODED: Final = (
    "the judge's answer has no requested key, and the judged answer names verdicts of the scale"
)
_SINGLE: Final = frozenset({"result", "score"})
"""The keys of a verdict about one sample."""


class UnreadableAnswer(Exception):
    """A judge's answer without a score; the text names the fault."""


class WithheldAnswer(UnreadableAnswer):
    """An answer of which nothing is read, in words either."""


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    content: dict[str, Any] = field(default_factory=dict)
    """The JSON object of the answer."""

    def without_verdict(self, fault: str) -> UnreadableAnswer:
        """Returns the fault of an answer in which a reader finds no verdict."""
        return UnreadableAnswer(f"the judge's answer contains {fault}")


def read_answer(
    text: str, judged: Any = None, *, key: CodedKey | None = None, scale: VerdictScale = NUMBERS
) -> JudgeAnswer:
    """Reads the JSON of an answer, whose verdict is in its content under the first name of the key.
    `judged` is the sample, with the values of the row that the prompt shows; `key` is that of a
    repeated request. Raises `UnreadableAnswer`.
    """
    if key is None or not key.is_in(text):
        return uncoded_answer(text, judged, key=key, scale=scale)
    check_brackets(text)
    content = key.content_of(coded_answer(text, judged, key), scale)
    if content is None:
        raise WithheldAnswer(UNCLEAR)
    return JudgeAnswer(content)


def coded_answer(text: str, judged: Any, key: CodedKey) -> str:
    """Returns a coded answer behind its thinking. Raises `UnreadableAnswer` for a key that has to
    be in JSON alone, and is not.
    """
    plain = key.plain(text)
    if not key.needs_json:
        return final_words(plain, judged)
    is_json = parsed_json(bare_answer(plain)) is not None
    said = plain if is_json else words_behind_thinking(plain, judged)
    if said is None or parsed_json(bare_answer(said)) is None:
        raise UnreadableAnswer(_WORDS)
    return said


def uncoded_answer(
    text: str, judged: Any, *, key: CodedKey | None, scale: VerdictScale
) -> JudgeAnswer:
    """Reads an answer without the coded key, which a repeated one should have had. Raises
    `UnreadableAnswer`.
    """
    check_brackets(text)
    if key is not None and scale.is_named_in(quotable_verdicts(judged)):
        raise WithheldAnswer(_UNCODED)
    return JudgeAnswer(_object_alone(trimmed_answer(text), judged))


def check_brackets(text: str) -> None:
    """Raises `UnreadableAnswer` for a text with more objects than are read."""
    if text.count("{") > MAX_OBJECTS:
        raise WithheldAnswer(f"the judge's answer has more than {MAX_OBJECTS} brackets")


def _object_alone(text: str, judged: Any) -> dict[str, Any]:
    """Returns the object that is all of an answer, or all behind its thinking.
    Raises `UnreadableAnswer` for other words beside it, which may quote the judged answer, and for
    a verdict that the judged answer names: the judge may have stopped behind a quotation of it.
    """
    said = text
    if parsed_json(said) is None and begins_with_thinking(said):
        said = own_words(text, judged)
    found = parsed_json(bare_answer(said))
    content = {} if found is None else object_of(found.value)
    if not content:
        raise UnreadableAnswer(_WORDS)
    if not _SINGLE.isdisjoint(content) and has_key_within(content.values(), VERDICTS):
        raise UnreadableAnswer(_WITHIN)
    if quotable_verdicts(judged).has(content):
        raise UnreadableAnswer(_QUOTABLE)
    return content


def quoted_text(value: Any, *, most: int = QUOTED_CHARACTERS) -> str | None:
    """Returns the first characters of a text in a judge's JSON, which may have halves of surrogate
    pairs; `None` for any other value.
    """
    return storable(value[:most]) if isinstance(value, str) else None
