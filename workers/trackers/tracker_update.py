"""The updates that a tracker writes of a job."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from app.domain.documents.json_object import Json
from app.domain.rollouts.metrics import MetricPoint

MAX_ROLLOUT_CHARS: Final = 20_000
"""Characters of one rollout that a tracker gets: of its messages as JSON, and of its document."""
_SHORTEST: Final = 100
"""Characters that are left of a long text of a message."""
_LAST: Final = 100
"""Characters for the message that counts those that were cut."""
_BETWEEN: Final = len(", ")


@dataclass(frozen=True, slots=True)
class TracedRollout:
    """A rollout whose messages a tracker gets."""

    step: int
    rank: int
    """Position by reward among those of the step, from 1."""
    id: str
    row: int
    reward: float | None
    messages: list[Json]
    """The conversation, with long contents cut."""


@dataclass(frozen=True, slots=True)
class TrackerUpdate:
    """Points and texts of a job that are new, or may be."""

    points: Sequence[MetricPoint]
    settings: Json
    """Model, files and method, redacted as in the job's API replies."""
    rollouts: Sequence[TracedRollout]
    report: Json | None
    """The paired report, once the job has one."""
    step: int
    """The job's last step."""
    outcome: str | None
    """Status of an ended job."""
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
        """Yields the values of each step under `split/name`, by step."""
        found = dict[int, dict[str, float]]()
        for point in self.points:
            found.setdefault(point.step, {})[curve_name(point)] = point.value
        yield from sorted(found.items())

    def rollouts_by_step(self) -> Iterator[tuple[int, list[TracedRollout]]]:
        """Yields the rollouts of each step by rank, by step."""
        found = dict[int, list[TracedRollout]]()
        for rollout in self.rollouts:
            found.setdefault(rollout.step, []).append(rollout)
        yield from sorted(found.items())


def curve_name(point: MetricPoint) -> str:
    return f"{point.split}/{point.name}"


def cut_messages(messages: Any) -> list[Json]:
    """Returns messages that together have at most `MAX_ROLLOUT_CHARS` characters of JSON: all of
    them with their long texts cut, or else the first ones and a last one with the number of the
    others.

    The time is bounded by what may be kept, however long the messages are.
    """
    sent = [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
    most = MAX_ROLLOUT_CHARS
    while _room(sent, most, MAX_ROLLOUT_CHARS) < 0 and most > _SHORTEST:
        most //= 2
    return _beginning(sent, most)


def _beginning(messages: list[Json], most: int) -> list[Json]:
    """Returns the messages with their texts cut, the first ones if not all of them fit."""
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
    """Returns how many of `left` characters the JSON of a value leaves when its long texts are cut
    to `most`; below 0 as soon as it does not fit, without a look at the rest.
    """
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
