"""Decides whether the end of a judge's thinking is the judge's own.

A judge that never ends its own thinking may end its answer with a quotation of the judged one,
whose mark and verdict would be read as its own. Must not know how verdicts are scored. Pure.
"""

import re
from itertools import chain
from typing import Any, Final

from app.domain.graders.texts.thinking import THINKING_END, THINKING_MARK
from app.grading.judge_texts.bare_answers import bare_answer
from app.grading.judge_texts.verdicts import verdicts_of
from app.grading.texts.json_in_text import embedded_json, objects_in, parsed_json, texts_in
from app.grading.texts.long_texts import matches_in, replaced_in
from app.grading.texts.normal_forms import plain_text

_BESIDE: Final = re.compile(r"[^a-z0-9/|]+")
_SKELETON: Final = re.compile(
    r"(?:/|2f|47|57)(?:seed)?(?:think|thought|reason)|(?:think|thinking|thoughts?|reasoning)/"
    r"|endofthought|endthinking|assistantfinal|channel\|"
)
"""A mark of an end without its brackets, and whatever else may be written into it."""


def begins_with_thinking(text: str) -> bool:
    """Returns whether an answer opens with a mark that begins thinking."""
    mark = THINKING_MARK.match(text.lstrip())
    return mark is not None and mark["end"] is None


def own_words(text: str, judged: Any) -> str:
    """Returns the words behind the thinking that an answer begins with; none if the mark between
    may be a quotation: a second one, one that the judged texts have in any spelling, or one behind
    another verdict.
    """
    behind = words_behind_thinking(text, judged)
    if behind is None:
        return ""
    thinking = text[: len(text) - len(behind)]
    final = parsed_json(bare_answer(behind))
    verdicts = frozenset() if final is None else verdicts_of(final.value)
    drafts = (verdicts_of(one.value) for one in embedded_json(thinking))
    return "" if any(draft and draft != verdicts for draft in drafts) else behind


def final_words(text: str, judged: Any) -> str:
    """Returns the words of a coded answer behind its thinking; all of them if it is not certain
    where that ends. No judged text can have the code, but a judge may quote a mark of an end behind
    its verdict, and the demand of the answer behind the mark. So the first mark counts, and the
    last one begins a line before an object alone. Thinking without an end has no words behind it.
    """
    if parsed_json(bare_answer(text)) is not None:
        return text
    ends = list(matches_in(THINKING_END, text))
    if not ends:
        return "" if begins_with_thinking(text) else text
    if not begins_with_thinking(text) and _has_ends(judged):
        return text
    first, last = ends[0].end(), ends[-1].end()
    if last > first and parsed_json(bare_answer(text[last:])) is not None:
        return f"{text[first:last]}\n{text[last:]}"
    return text[first:]


def words_behind_thinking(text: str, judged: Any) -> str | None:
    """Returns the words behind the only mark of an end, all words of an answer without a mark, and
    `None` if it is not certain where the thinking ends.
    """
    ends = list(matches_in(THINKING_END, text))
    if not ends:
        return None if any(matches_in(THINKING_MARK, text)) else text
    if len(ends) > 1 or _has_ends(judged):
        return None
    return text[ends[0].end() :]


def _has_ends(judged: Any) -> bool:
    """Returns whether the judged texts have a mark of an end, however it is written: a judge may
    write it plainly.
    """
    texts = chain(texts_in(judged), *map(dict.keys, objects_in(judged)))
    plain = (replaced_in(_BESIDE, "", plain_text(text).lower()) for text in texts)
    return any(any(matches_in(_SKELETON, text)) for text in plain)
