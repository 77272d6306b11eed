"""What a tracker gets of a job, as numbers and texts, and the protocols of tracker and library."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from app.jobs.integrations import TrackerKind
from app.kit.fields import Json
from app.rollouts.metrics import MetricPoint

MAX_ROLLOUT_CHARS: Final = 20_000
"""Characters of one rollout that a tracker gets: of its messages as JSON, and of its document."""
_SHORTEST: Final = 100
_LAST: Final = 100
_BETWEEN: Final = len(", ")


@dataclass(frozen=True, slots=True)
class TracedRollout:
    step: int
    rank: int
    id: str
    row: int
    reward: float | None
    messages: list[Json]


@dataclass(frozen=True, slots=True)
class TrackerUpdate:
    points: Sequence[MetricPoint]
    settings: Json
    rollouts: Sequence[TracedRollout]
    report: Json | None
    step: int
    outcome: str | None
    written_at: float
    """Unix seconds of the newest event that it is made from."""

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, sent: Mapping[str, Any]) -> "TrackerUpdate":
        points = [MetricPoint(**point) for point in sent["points"]]
        rollouts = [TracedRollout(**rollout) for rollout in sent["rollouts"]]
        return cls(**{**sent, "points": points, "rollouts": rollouts})

    def curves_by_step(self) -> Iterator[tuple[int, dict[str, float]]]:
        found = dict[int, dict[str, float]]()
        for point in self.points:
            found.setdefault(point.step, {})[(f"{point.split}/{point.name}")] = point.value
        yield from sorted(found.items())

    def rollouts_by_step(self) -> Iterator[tuple[int, list[TracedRollout]]]:
        found = dict[int, list[TracedRollout]]()
        for rollout in self.rollouts:
            found.setdefault(rollout.step, []).append(rollout)
        yield from sorted(found.items())


def cut_messages(messages: Any) -> list[Json]:
    """Returns messages that together have at most `MAX_ROLLOUT_CHARS` characters of JSON: all of
    them with their long texts cut, or else the first ones and a last one with the number of the
    others. The time is bounded by what may be kept, however long the messages are.
    """
    sent = [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
    most = MAX_ROLLOUT_CHARS
    while _room(sent, most, MAX_ROLLOUT_CHARS) < 0 and most > _SHORTEST:
        most //= 2
    return _beginning(sent, most)


def _beginning(messages: list[Json], most: int) -> list[Json]:
    if _room(messages, most, MAX_ROLLOUT_CHARS) >= 0:
        return [_cut(one, most) for one in messages]
    left, kept = MAX_ROLLOUT_CHARS - _LAST, list[Json]()
    for one in messages:
        left = _room(one, most, left) - _BETWEEN
        if left < 0:
            break
        kept.append(_cut(one, most))
    last = {"role": "system", "content": f"… {len(messages) - len(kept)} more messages"}
    return [*kept, last]


def _room(value: Any, most: int, left: int) -> int:
    """Below 0 as soon as the value does not fit, without a look at the rest."""
    match value:
        case str():
            return left - len(json.dumps(_cut(value, most)))
        case dict():
            left -= len("{}")
            for key, one in value.items():
                if left < len(key):
                    return -1
                left = _room(one, most, left - len(json.dumps(key)) - len(": ") - _BETWEEN)
        case list():
            left -= len("[]")
            for one in value:
                if left < 0:
                    break
                left = _room(one, most, left) - _BETWEEN
        case _:
            left -= len(json.dumps(value))
    return left


def _cut(value: Any, most: int) -> Any:
    match value:
        case str() if len(value) > most:
            return f"{value[:most]}… {len(value) - most} more characters"
        case list():
            return [_cut(one, most) for one in value]
        case dict():
            return {key: _cut(one, most) for key, one in value.items()}
        case _:
            return value


class TrackerFault(Exception):
    """A tracker could not be written; the text is safe to show to the job's owner."""


@dataclass(frozen=True, slots=True)
class WriteReport:
    url: str | None = None
    notes: Sequence[str] = ()
    """Warnings for the job's owner; each is one event of the job."""


NOTHING_NEW: Final = WriteReport()


class LibraryRun(Protocol):
    def write(self, update: TrackerUpdate) -> WriteReport:
        """What the tracker does not have; an outcome ends the run, and waits for all."""
        ...

    def close(self) -> None: ...


class Tracker(Protocol):
    """A run that does not block the event loop."""

    wants_all: bool
    """Until the first write, for a library that cannot add to what an earlier process wrote."""

    async def write(self, update: TrackerUpdate) -> WriteReport:
        """Writes as `LibraryRun.write`. Raises `TrackerFault`, or any error of the library."""
        ...

    async def close(self) -> None:
        """Ends the run in order; it may continue later."""
        ...

    async def abandon(self) -> None:
        """Ends the run at once, after an error."""
        ...


@dataclass(frozen=True, slots=True)
class WandbAccount:
    api_key: str
    base_url: str
    offline: bool


@dataclass(frozen=True, slots=True)
class Assignment:
    kind: TrackerKind
    directory: str
    run_id: str
    name: str
    options: Json
    is_local: bool
    allow_endpoints: tuple[str, ...]
    allow_plain_http: bool
    wandb: WandbAccount | None = None
    """The operator's account, for its own kind of tracker alone."""

    @property
    def scratch(self) -> Path:
        """May hold a customer's texts: removed with the process and before the next one."""
        return Path(self.directory) / ".tmp"

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, sent: dict[str, Any]) -> "Assignment":
        endpoints = tuple(sent["allow_endpoints"])
        wandb = None if sent["wandb"] is None else WandbAccount(**sent["wandb"])
        return cls(**{**sent, "allow_endpoints": endpoints, "wandb": wandb})


_SEPARATOR: Final = "."


@dataclass(frozen=True, slots=True)
class Document:
    tag: str
    step: int
    text: str


def documents_of(update: TrackerUpdate) -> Iterator[Document]:
    yield Document("job", 0, _fenced(update.settings))
    for rollout in update.rollouts:
        yield Document(f"rollouts/{rollout.rank}", rollout.step, rollout_text(rollout))
    if update.report is not None:
        yield Document("report", update.step, _fenced(update.report))


def rollout_text(rollout: TracedRollout) -> str:
    head = f"Rollout {rollout.id}, row {rollout.row}, reward {rollout.reward}"
    text = f"{head}\n\n{_fenced(rollout.messages)}"
    if len(text) > MAX_ROLLOUT_CHARS:
        return f"{text[:MAX_ROLLOUT_CHARS]}\n… {len(text) - MAX_ROLLOUT_CHARS} more characters"
    return text


def flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields each value of JSON that is no object, under its keys joined by dots."""
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from flat(below, f"{prefix}{_SEPARATOR}{key}" if prefix else str(key))
    elif isinstance(value, list):
        yield prefix, json.dumps(value, ensure_ascii=False, default=str)
    else:
        yield prefix, value


def numbers_of(report: Mapping[str, Any]) -> dict[str, float]:
    return {
        f"report/{key}": float(value)
        for key, value in flat(report)
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _fenced(value: Any) -> str:
    """Returns JSON as an indented block of Markdown: no text in it can end the block."""
    lines = json.dumps(value, indent=2, ensure_ascii=False, default=str).splitlines()
    return "\n".join(f"    {line}" for line in lines)
