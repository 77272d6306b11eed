"""Reads the scores of a group out of a judge's repeated answer: as its JSON, or entry by entry.

Each entry has an id, and behind it the coded key with a score. Only these keys are looked at, so
that broken JSON (a quote without its escape, a trailing comma, LaTeX) loses nothing. Promises that
no rollout's quotation moves a score to another id: a list with an id that has no coded score is not
read, since each such move leaves one. Pure.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from app.grading.judge_texts.bare_answers import bare_answer
from app.grading.judge_texts.coded_places import is_stated_object, value_behind, words_of
from app.grading.judge_texts.coded_verdicts import CodedKey, names_verdict
from app.grading.judge_texts.scales import JudgeVerdict, NumberScale
from app.grading.judge_texts.verdicts import rollout_id
from app.grading.texts.json_in_text import (
    embedded_json,
    json_at,
    object_of,
    parsed_json,
    with_escaped_backslashes,
)
from app.grading.texts.long_texts import matches_in

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
