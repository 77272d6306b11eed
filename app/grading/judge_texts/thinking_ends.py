"""Decides whether a mark that ends thinking in a judge's answer is the judge's own.

A judge that never ends its own thinking may end its answer with a quotation of the judged one,
whose mark and verdict would be read as its own. Must not know how verdicts are scored. Pure.
"""

import re
from typing import Any, Final

from app.domain.graders.texts.thinking import THINKING_END, THINKING_MARK
from app.grading.judge_texts.bare_answers import bare_answer
from app.grading.judge_texts.verdicts import verdicts_of
from app.grading.texts.json_in_text import embedded_json, keys_in, parsed_json, texts_in
from app.grading.texts.long_texts import matches_in, replaced_in
from app.grading.texts.normal_forms import plain_text

_BESIDE: Final = re.compile(r"[^a-z0-9/|]+")
_SKELETON: Final = re.compile(
    r"(?:/|2f|47|57)(?:seed)?(?:think|thought|reason)|(?:think|thinking|thoughts?|reasoning)/"
    r"|endofthought|endthinking|assistantfinal|channel\|"
)
"""A mark of an end without its brackets, and whatever else may be written into it."""
_TO_OBJECT: Final = re.compile(r"[\s`~]{0,16}(?:json)?\s{0,16}(?=\{)")
_MOST_MARKS: Final = 1_000
"""Number of marks in a judged text that are looked at; more of them are no honest text."""
_LONGEST: Final = 4_096
"""Number of characters of an object behind a mark."""


def begins_with_thinking(text: str) -> bool:
    mark = THINKING_MARK.match(text.lstrip())
    return mark is not None and mark["end"] is None


def own_words(text: str, judged: Any) -> str:
    """Returns the words behind the thinking that an answer begins with; none if the mark between
    may be a quotation: a second one, one that the judged texts have in any spelling, or one behind
    another verdict.
    """
    ends = list(matches_in(THINKING_END, text))
    if len(ends) != 1 or _has_ends(judged):
        return ""
    thinking, said = text[: ends[0].start()], text[ends[0].end() :]
    final = parsed_json(bare_answer(said))
    verdicts = frozenset() if final is None else verdicts_of(final.value)
    drafts = (verdicts_of(one.value) for one in embedded_json(thinking))
    return "" if any(draft and draft != verdicts for draft in drafts) else said


def is_behind_end(verdict: Any, judged: Any) -> bool:
    """Returns whether the judged texts have this verdict directly behind a mark of an end."""
    verdicts, seen = verdicts_of(verdict), 0
    for text in map(plain_text, texts_in(judged)):
        for mark in matches_in(THINKING_END, text):
            seen += 1
            start = _TO_OBJECT.match(text, mark.end())
            if start is None:
                continue
            if seen > _MOST_MARKS:
                return True
            quoted = next(embedded_json(text[start.end() : start.end() + _LONGEST]), None)
            if quoted is not None and verdicts_of(quoted.value) == verdicts:
                return True
    return False


def _has_ends(judged: Any) -> bool:
    """Returns whether the judged texts have a mark of an end, however it is written: a judge may
    write it plainly.
    """
    texts = (*texts_in(judged), *keys_in(judged))
    plain = (replaced_in(_BESIDE, "", plain_text(text).lower()) for text in texts)
    return any(any(matches_in(_SKELETON, text)) for text in plain)
