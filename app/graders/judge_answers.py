"""Reads the scores of a group out of a judge's repeated answer: as its JSON, or entry by entry.

Each entry has an id, and behind it the coded key with a score. Only these keys are looked at, so
that broken JSON (a quote without its escape, a trailing comma, LaTeX) loses nothing. No rollout's
quotation moves a score to another id: a list with an id that has no coded score is not read, since
each such move leaves one.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from app.graders.coded_verdicts import (
    CodedKey,
    is_stated_object,
    names_verdict,
    value_behind,
    words_of,
)
from app.graders.judge_replies import (
    VERDICTS,
    bare_answer,
    begins_with_thinking,
    final_words,
    has_key_within,
    own_words,
    rollout_id,
    trimmed_answer,
    words_behind_thinking,
)
from app.graders.quoted_verdicts import quotable_verdicts
from app.graders.scales import NUMBERS, JudgeVerdict, NumberScale, VerdictScale
from app.graders.texts import (
    embedded_json,
    json_at,
    matches_in,
    object_of,
    parsed_json,
    with_escaped_backslashes,
)
from app.kit.texts import storable

SHARES: Final = NumberScale(0, 1)
"""The scale of a group's scores."""
_START: Final = r"(?P<start>(?<!\\)\"scores\w{0,16}\"\s{0,16}:\s{0,16}\[)"
_ID: Final = r"(?P<id>(?<!\\)\"id\"\s{0,16}:\s{0,16})"
_MOST_KEYS: Final = 20_000
"""Number of keys that are read: a group has three for each rollout, and some more in thinking."""
_LONGEST_ID: Final = 100
"""Number of characters of an id that are read."""
_OPENING: Final = re.compile(r"(?:scores\s?[:=]\s?)?[\[{][\[{ \t]{0,40}\Z")
"""The brackets in front of a list."""
_REACH: Final = 100
"""Number of characters in front of a list in which its brackets are."""
_PAIR: Final = re.compile(r"\"(\d{1,9})\"\s{0,16}:\s{0,16}([^,\n]{1,40})")
"""An id and the words of its score in an object that is no JSON."""
_EXPLANATION: Final = re.compile(r'"explanation"\s{0,16}:\s{0,16}(?=")')


@dataclass(slots=True)
class _Entry:
    identifier: str
    start: int
    """The place behind the id."""
    end: int = 0
    """The place of the score."""
    score: Any = None


@dataclass(slots=True)
class _List:
    """The entries of a list, while it is read."""

    start: int | None = None
    """The place of its key, or else of its first id."""
    entries: list[_Entry] = field(default_factory=list)
    unscored: list[_Entry] = field(default_factory=list)
    is_unclear: bool = False
    """True if a score or an id does not belong to another one."""

    @property
    def is_whole(self) -> bool:
        return not self.unscored and not self.is_unclear


def coded_scores(text: str, key: CodedKey) -> dict[str, Any] | None:
    """Returns the list of an answer under `scores`, with the coded score of each id under the
    first name of the key, and explanations. `None` if it is unclear to which id a score belongs, or
    an id has two.
    """
    whole = parsed_json(bare_answer(text))
    if whole is not None and (listed := _listed(whole.value, key)) is not None:
        return listed
    if key.needs_json:
        return None
    if (listed := _stated_by_id(text, key) or _broken_by_id(text, key)) is not None:
        return listed
    entries = _entries(text, key)
    if entries is None:
        return None
    found = {
        entry.identifier: {
            "id": entry.identifier,
            "explanation": _explanation(text[entry.start : entry.end]),
            key.name: entry.score,
        }
        for entry in entries
    }
    return {"scores": [*found.values()]}


def _listed(value: Any, key: CodedKey) -> dict[str, Any] | None:
    """Returns the list of an answer that is JSON alone, or its scores by their ids; `None` unless
    each entry has an id of its own, the coded score, and no other one.
    """
    listed = value if isinstance(value, list) else object_of(value).get("scores")
    if isinstance(by_id := object_of(value).get(key.coded), dict):
        if not {"scores", key.name}.isdisjoint(value):
            return None
        listed = [{"id": name, key.coded: score} for name, score in by_id.items()]
    if not isinstance(listed, list):
        return None
    made = dict[str, Any]()
    for entry in map(object_of, listed):
        identifier, score = rollout_id(entry.get("id")), _score(entry.get(key.coded))
        is_other = score is None or _score(entry.get(key.name, score)) != score
        if not identifier or identifier in made or is_other:
            return None
        explanation = entry.get("explanation", "")
        made[identifier] = {"id": identifier, "explanation": explanation, key.name: score}
    return {"scores": [*made.values()]}


def _stated_by_id(text: str, key: CodedKey) -> dict[str, Any] | None:
    """Returns the scores by their ids in words. `None` if two objects differ, the key is at another
    place too, no object begins a line or a sentence, or a verdict without the code is behind them.
    """
    found = [one for one in embedded_json(text) if key.coded in object_of(one.value)]
    read = [_listed(one.value, key) for one in found if isinstance(one.value[key.coded], dict)]
    is_stated = any(is_stated_object(text, one.start) for one in found)
    is_all = len(found) == len(read) == sum(1 for _ in key.places_in(text))
    if not (is_stated and is_all and all(one == read[0] for one in read)):
        return None
    return None if names_verdict(text[found[-1].end :]) else read[0]


def _broken_by_id(text: str, key: CodedKey) -> dict[str, Any] | None:
    """Returns the scores by their ids in an object that is no JSON, such as one with a comment.
    `None` if the key is at two places, the object does not begin a line or a sentence, or a verdict
    without the code is behind it.
    """
    found = re.search(rf"\"{key.coded}\"\s{{0,16}}:\s{{0,16}}\{{", text)
    if found is None or sum(1 for _ in key.places_in(text)) > 1:
        return None
    start, end = text.rfind("{", 0, found.start()), text.find("}", found.end())
    is_stated = start >= 0 and is_stated_object(text, start)
    if not is_stated or end < 0 or names_verdict(text[end:]):
        return None
    pairs = _PAIR.findall(text, found.end(), end)
    entries = [{"id": name, key.coded: words} for name, words in pairs]
    return _listed({"scores": entries}, key) if entries else None


def _score(value: Any) -> JudgeVerdict | None:
    words = words_of(value)
    return None if words is None else SHARES.verdict_in(words)


def _entries(text: str, key: CodedKey) -> list[_Entry] | None:
    """Returns the coded entries of all lists. A list without any coded score in front of these may
    be a quotation, and is skipped.
    """
    done, now, last = list[_Entry](), _List(), 0
    for number, found in enumerate(_keys(text, key)):
        if number == _MOST_KEYS:
            return None
        match found.lastgroup:
            case "start":
                if (now.entries or done) and not now.is_whole:
                    return None
                done, now = [*done, *now.entries], _List(found.start())
            case "id":
                now.start = found.start() if now.start is None else now.start
                now.unscored.append(_Entry(_id_at(text, found.end()), found.end()))
            case "coded" if now.start is None or not _is_stated(text, now.start):
                return None
            case "coded":
                last = found.start("coded")
                _add_coded(now, last, value_behind(text, found.end("coded"), SHARES))
            case _:
                _compare(now, value_behind(text, found.end("uncoded"), SHARES))
    final = deque(key.places_in(text), maxlen=1)
    is_last = bool(final) and final[0].start() == last + 1
    entries = [*done, *now.entries]
    ids = {entry.identifier for entry in entries}
    is_agreed = len({(entry.identifier, entry.score) for entry in entries}) == len(ids)
    return entries if entries and now.is_whole and is_last and is_agreed else None


def _is_stated(text: str, at: int) -> bool:
    """Returns whether a list begins a line or a sentence, and is no report within one."""
    found = _OPENING.search(text, max(0, at - _REACH), at)
    return is_stated_object(text, at if found is None else found.start())


def _id_at(text: str, start: int) -> str:
    return rollout_id(json_at(text[start : start + _LONGEST_ID], 0))


def _keys(text: str, key: CodedKey) -> Iterator[re.Match[str]]:
    coded, uncoded = (rf"(?<!\\)\"{name}\"(?=\s{{0,16}}:)" for name in (key.coded, key.name))
    pattern = re.compile(rf"{_START}|{_ID}|(?P<coded>{coded})|(?P<uncoded>{uncoded})")
    return matches_in(pattern, text)


def _add_coded(now: _List, end: int, value: JudgeVerdict | None) -> None:
    if len(now.unscored) == 1:
        entry = now.unscored.pop()
        entry.score, entry.end = value, end
        now.entries.append(entry)
    else:
        now.is_unclear = True


def _compare(now: _List, value: JudgeVerdict | None) -> None:
    """Notes a score without the code that no id has, or that differs from the coded one."""
    if not now.unscored:
        last = now.entries[-1].score if now.entries else None
        now.is_unclear |= value is None or value != last


def _explanation(text: str) -> str:
    found = _EXPLANATION.search(text)
    if found is None:
        return ""
    said = json_at(text, found.end())
    if said is None:
        said = json_at(with_escaped_backslashes(text[found.end() :]), 0)
    return said if isinstance(said, str) else ""


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
