"""Decides whether the end of a judge's thinking, and of its JSON, is the judge's own.

A judge that never ends its own thinking may end its answer with a quotation of the judged one,
whose mark and verdict would be read as its own. Must not know how verdicts are scored. Pure.
"""

import re
from itertools import chain
from typing import Any, Final

from app.domain.graders.texts.thinking import THINKING_END, THINKING_MARK
from app.grading.judge_texts.bare_answers import bare_answer
from app.grading.judge_texts.quotable_verdicts import quotable_verdicts
from app.grading.judge_texts.verdicts import verdicts_of
from app.grading.texts.json_in_text import embedded_json, objects_in, parsed_json, texts_in
from app.grading.texts.long_texts import matches_in, replaced_in
from app.grading.texts.normal_forms import plain_text

_BLANKS: Final = re.compile(r"\s+")
_BESIDE: Final = re.compile(r"[^a-z0-9/|]+")
_SKELETON: Final = re.compile(
    r"(?:/|2f|47|57)(?:seed)?(?:think|thought|reason)|(?:think|thinking|thoughts?|reasoning)/"
    r"|endofthought|endthinking|assistantfinal|channel\|"
)
"""A mark of an end without its brackets, and whatever else may be written into it."""
_TO_OBJECT: Final = re.compile(r"[\s`~\u200b-\u200d\u2060\ufeff]*+(?:\w{1,20}\s*+)?(?=\{)")
_MOST_OBJECTS: Final = 1_000
"""Number of objects behind marks that are looked at; a text with more is no honest one."""
_LONGEST: Final = 4_096
"""Number of characters of an object behind a mark."""


def begins_with_thinking(text: str) -> bool:
    """Returns whether an answer opens with a mark that begins thinking."""
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
    """Returns whether the judged texts have an object with this verdict directly behind a mark of
    an end.
    """
    seen = 0
    for text in chain.from_iterable((each, plain_text(each)) for each in texts_in(judged)):
        for mark in matches_in(THINKING_END, text):
            start = _TO_OBJECT.match(text, mark.end(), mark.end() + _LONGEST)
            if start is None:
                continue
            seen += 1
            if seen > _MOST_OBJECTS:
                return True
            quoted = text[start.end() : start.end() + _LONGEST]
            if quotable_verdicts(quoted).has(verdict):
                return True
    return False


def ends_as_judged(said: str, judged: Any) -> bool:
    """Returns whether the end of an answer's JSON, from the last key of a verdict on, stands in the
    judged texts: a judge may stop behind a quotation without escapes that ends its JSON.
    """
    compact = replaced_in(_BLANKS, "", bare_answer(said))
    at = max(compact.rfind(f'"{key}":') for key in ("result", "score"))
    if at == -1:
        return False
    return any(compact[at:] in replaced_in(_BLANKS, "", text) for text in texts_in(judged))


def _has_ends(judged: Any) -> bool:
    """Returns whether the judged texts have a mark of an end, however it is written: a judge may
    write it plainly.
    """
    texts = chain(texts_in(judged), *map(dict.keys, objects_in(judged)))
    plain = (replaced_in(_BESIDE, "", plain_text(text).lower()) for text in texts)
    return any(any(matches_in(_SKELETON, text)) for text in plain)
