"""Makes rows from the rollouts of a job, in a process of its own."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final, Literal, Self, assert_never

from app.curricula.curricula import CurriculumSplit
from app.files.conversations import BROKEN_CALL
from app.files.rows import is_blank
from app.jobs.file_checks import lines_of
from app.jobs.supervised import MethodType
from app.kit.fields import Json
from app.kit.ids import Split
from app.rollouts.trajectory import chat_messages

_MESSAGE_KEYS: Final = ("role", "content", "name", "tool_calls", "tool_call_id", BROKEN_CALL)
_Row = tuple[CurriculumSplit, int]
UnpairedCode = Literal["pair_with_calls", "pair_of_equal_answers"]
UNPAIRED: Final = MappingProxyType[UnpairedCode, str](
    {
        "pair_with_calls": "Rows have no pair: the messages before the last answers of their best "
        "and worst rollout differ, as calls of tools do.",
        "pair_of_equal_answers": "Rows have no pair: their best and worst rollout end with the "
        "same answer.",
    }
)


@dataclass(frozen=True, slots=True)
class RolloutFiles:
    rollouts: Path
    rows: Mapping[CurriculumSplit, Path]


def split_of(split: Split) -> CurriculumSplit | None:
    """Returns the file of a job whose rows a split plays; `None` for a split that no job has."""
    match split:
        case "train":
            return "training"
        case "valid" | "valid_greedy" | "valid_base" | "report":
            return "validation"
        case "test":
            return None
        case _:
            assert_never(split)


@dataclass(slots=True)
class _PlayedRewards:
    rewards: list[float] = field(default_factory=list)
    best: tuple[float, int] = (float("-inf"), -1)
    worst: tuple[float, int] = (float("inf"), -1)


def write_rows(
    files: RolloutFiles, method: MethodType, path: Path
) -> list[tuple[UnpairedCode, int]]:
    """Writes the rows as JSON Lines. Returns the numbers (from 1) of those that have no pair."""
    unpaired = list[tuple[UnpairedCode, int]]()
    with path.open("wb") as out, files.rollouts.open("rb") as rollouts:
        for row in _rows(files, method, rollouts, unpaired):
            text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
            out.write(text.encode(errors="surrogatepass") + b"\n")
    return unpaired


def _rows(
    files: RolloutFiles,
    method: MethodType,
    rollouts: BinaryIO,
    unpaired: list[tuple[UnpairedCode, int]],
) -> Iterator[Json]:
    with _PlayedRows(files.rows) as items:
        match method:
            case "reinforcement":
                yield from _played(_measured(rollouts), items)
            case "supervised":
                for _, rollout in _each(rollouts):
                    item = items.get(_row_of(rollout))
                    yield _offering(item, {"messages": _messages(rollout)})
            case "dpo":
                yield from _pairs(_measured(rollouts), items, rollouts, unpaired)
            case _:
                assert_never(method)


def _each(rollouts: BinaryIO) -> Iterator[tuple[int, Json]]:
    rollouts.seek(0)
    while True:
        offset = rollouts.tell()
        line = rollouts.readline()
        if not line:
            return
        yield offset, json.loads(line)


def _measured(rollouts: BinaryIO) -> dict[_Row, _PlayedRewards]:
    found = dict[_Row, _PlayedRewards]()
    for offset, rollout in _each(rollouts):
        played, reward = found.setdefault(_row_of(rollout), _PlayedRewards()), rollout["reward"]
        if reward is None:
            continue
        played.rewards.append(reward)
        played.best = max(played.best, (reward, -offset))
        played.worst = min(played.worst, (reward, offset))
    return found


def _played(measured: Mapping[_Row, _PlayedRewards], items: "_PlayedRows") -> Iterator[Json]:
    """Yields each row once; difficulty and spread are on the scale of all rewards."""
    rewards = [reward for played in measured.values() for reward in played.rewards]
    lowest, highest = min(rewards, default=0.0), max(rewards, default=0.0)
    width = (highest - lowest) or 1.0
    for row, played in sorted(measured.items()):
        item = items.get(row)
        if item is None:
            continue
        if played.rewards and highest > lowest:
            mean = sum(played.rewards) / len(played.rewards)
            item["difficulty"] = round(1 - (mean - lowest) / width, 6)
            item["spread"] = round((max(played.rewards) - min(played.rewards)) / width, 6)
        yield item


def _pairs(
    measured: Mapping[_Row, _PlayedRewards],
    items: "_PlayedRows",
    rollouts: BinaryIO,
    unpaired: list[tuple[UnpairedCode, int]],
) -> Iterator[Json]:
    """Yields the best against the worst answer of each row. Adds the others to `unpaired`."""
    for row, played in sorted(measured.items()):
        if not played.best[0] > played.worst[0]:
            continue
        better, worse = (
            _messages(_at(rollouts, abs(offset))) for _, offset in (played.best, played.worst)
        )
        if better[:-1] != worse[:-1]:
            unpaired.append(("pair_with_calls", row[1] + 1))
            continue
        if better[-1:] == worse[-1:]:
            unpaired.append(("pair_of_equal_answers", row[1] + 1))
            continue
        given = _offering(items.get(row), {"messages": better[:-1]})
        yield {"input": given, "preferred_output": better[-1:], "non_preferred_output": worse[-1:]}


def _at(rollouts: BinaryIO, offset: int) -> Json:
    rollouts.seek(offset)
    rollout: Json = json.loads(rollouts.readline())
    return rollout


def _row_of(rollout: Json) -> _Row:
    part = split_of(rollout["split"])
    if part is None:
        raise ValueError(f"no job has rollouts of '{rollout['split']}'")
    return part, rollout["prompt_index"]


def _messages(rollout: Json) -> list[Json]:
    return [
        {key: message[key] for key in _MESSAGE_KEYS if message.get(key) is not None}
        for message in chat_messages(rollout["messages"])
    ]


def _offering(item: Json | None, row: Json) -> Json:
    tools = None if item is None else item.get("tools")
    return {**row, "tools": tools} if tools else row


class _PlayedRows:
    def __init__(self, paths: Mapping[CurriculumSplit, Path]) -> None:
        self._files: dict[CurriculumSplit, BinaryIO] = {
            part: path.open("rb") for part, path in paths.items()
        }
        self._offsets = {part: _offsets(file) for part, file in self._files.items()}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for file in self._files.values():
            file.close()

    def get(self, row: _Row) -> Json | None:
        part, number = row
        offsets = self._offsets.get(part, [])
        if number >= len(offsets):
            return None
        self._files[part].seek(offsets[number])
        item: Any = json.loads(self._files[part].readline().removeprefix(b"\xef\xbb\xbf"))
        return item if isinstance(item, dict) else None


def _offsets(file: BinaryIO) -> list[int]:
    offsets, at = list[int](), 0
    for _, line in lines_of(file):
        if not is_blank(line):
            offsets.append(at)
        at = file.tell()
    return offsets
