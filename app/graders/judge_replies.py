"""Compares the values at the keys of a judge's JSON that decide a score.

All other values are one, so that nothing within them is looked at.
"""

import re
import string
from collections.abc import Collection, Iterable
from itertools import chain
from typing import Any, Final

from app.graders.answer_words import THINKING_END, THINKING_MARK
from app.graders.scorer import finite
from app.graders.text_scorer import plain_text
from app.graders.texts import (
    embedded_json,
    matches_in,
    object_of,
    objects_in,
    parsed_json,
    replaced_in,
    texts_in,
)

VERDICTS: Final = ("result", "score", "scores")
"""The keys of a judge's JSON that decide a score."""

Plain = float | str | None
"""A number, another text, or `None` for a value that is no score."""
_PLAIN: Final = re.compile(r"[-+\u2212]?(?:\d{1,30}(?:\.\d{1,30})?|\.\d{1,30})", re.ASCII)
_ID: Final = re.compile(
    r"(?:(?:rollout|trajectory|id)[ _#:-]{0,3}|#)?0*+(?P<number>[1-9][0-9]{0,8})(?:\.0)?",
    re.IGNORECASE,
)
JudgeVerdict = tuple[str, Plain | frozenset[tuple[str, Plain]]]
"""The key of a verdict, and its value or the scores of its rollouts in any order."""


def verdicts_of(value: Any) -> frozenset[JudgeVerdict]:
    """Returns the verdicts of an object, equal for equal ones however they are written."""
    found = object_of(value)
    return frozenset((key, _plain(found[key])) for key in VERDICTS if key in found)


def has_key_within(values: Iterable[Any], keys: Collection[str]) -> bool:
    """Returns whether an object at any depth of the values has one of the keys."""
    return any(not one.keys().isdisjoint(keys) for one in objects_in([*values]))


def number_in(value: Any) -> float | None:
    """Returns the finite number that is the value, or that its text is in plain digits; `None` for
    any other. A spelling that a comparison with the judged answer does not know (`$10`) is none.
    """
    if isinstance(value, str):
        found = _PLAIN.fullmatch(value.strip())
        return None if found is None else finite(float(found[0].replace("\u2212", "-")))
    return finite(value)


def _plain(value: Any) -> Plain | frozenset[tuple[str, Plain]]:
    if isinstance(value, list):
        entries = map(object_of, value)
        return frozenset(
            (rollout_id(one.get("id")), number_in(one.get("score"))) for one in entries
        )
    number = number_in(value)
    return value if number is None and isinstance(value, str) else number


def rollout_id(value: Any) -> str:
    """Returns an id as a judge was shown it, for one that it writes as a number, with zeros in
    front of it, or behind a word (`1.0`, `"01"`, `"rollout 1"`); any other text as it is.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    found = _ID.fullmatch(text)
    return text if found is None else found["number"]


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


_BLANKS: Final = f"{string.whitespace}\u00a0\u200b\u200c\u200d\u2060\ufeff"
"""Characters that cannot be seen."""
_TURN_ENDS: Final = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|end|>",
    "<|return|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<end_of_turn>",
    "<eos>",
    "</s>",
)
_MOST_ENDS: Final = 8
"""Number of tokens that are taken off, each of which copies the answer."""
_FENCED: Final = re.compile(
    r"(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?:[\w+.-]{1,20}+(?=[\s{\[]))?(?P<body>.*)", re.DOTALL
)
"""An opening fence with or without a word of its language, and the rest, also on one line."""


def trimmed_answer(text: str) -> str:
    """Returns the answer without blanks at its edges and tokens at its end."""
    text = text.strip(_BLANKS)
    for _ in range(_MOST_ENDS):
        end = next((end for end in _TURN_ENDS if text.endswith(end)), None)
        if end is None:
            break
        text = text.removesuffix(end).rstrip(_BLANKS)
    return text


def bare_answer(text: str) -> str:
    """Returns the text within the fence that has all of the answer, else the trimmed answer. The
    text may have fences of its own, such as in the strings of a JSON object.
    """
    said = trimmed_answer(text)
    fenced = _FENCED.fullmatch(said)
    if fenced is None or not fenced["body"].endswith(fenced["fence"]):
        return said
    return fenced["body"].removesuffix(fenced["fence"]).strip(_BLANKS)
