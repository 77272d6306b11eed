"""The texts that trackers get of an update: settings, report, rollouts. Pure.

Secrets are redacted in the job as it is stored, and documents have nothing that the job's API
replies lack.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from workers.trackers.tracker_update import MAX_ROLLOUT_CHARS, TracedRollout, TrackerUpdate

_SEPARATOR: Final = "."


@dataclass(frozen=True, slots=True)
class Document:
    """A text about a job: its settings, its report, or the messages of a rollout."""

    tag: str
    step: int
    text: str
    """Markdown."""


def documents_of(update: TrackerUpdate) -> Iterator[Document]:
    """Yields the settings, the rollouts by step and rank, and the report."""
    yield Document("job", 0, _fenced(update.settings))
    for rollout in update.rollouts:
        yield Document(f"rollouts/{rollout.rank}", rollout.step, rollout_text(rollout))
    if update.report is not None:
        yield Document("report", update.step, _fenced(update.report))


def rollout_text(rollout: TracedRollout) -> str:
    """Returns a rollout as Markdown."""
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
    """Returns the numbers of a report under `report/` and their keys."""
    return {
        f"report/{key}": float(value)
        for key, value in flat(report)
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _fenced(value: Any) -> str:
    """Returns JSON as an indented block of Markdown: no text in it can end the block."""
    lines = json.dumps(value, indent=2, ensure_ascii=False, default=str).splitlines()
    return "\n".join(f"    {line}" for line in lines)
