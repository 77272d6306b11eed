"""The documents that trackers get of a job: settings, report, rollouts. Pure.

Secrets are redacted in the job as it is stored, and documents have nothing that the job's API
replies lack.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from app.domain.jobs.jobs import Job
from app.domain.rollouts.rollouts import RolloutRow
from workers.trackers.records import Document

_MOST: Final = 20_000
"""Characters of a rollout that a tracker gets."""


def settings_of(job: Job) -> Document:
    settings = {
        "id": job.id,
        "model": job.model,
        "training_file": job.training_file,
        "validation_file": job.validation_file,
        "seed": job.seed,
        "suffix": job.suffix,
        "metadata": job.metadata,
        "method": job.method.document,
    }
    return Document("job", 0, _fenced(settings))


def report_of(job: Job, report: dict[str, Any]) -> Document:
    return Document("report", job.step, _fenced(report))


def rollouts_of(step: int, rollouts: Iterable[RolloutRow]) -> Iterator[Document]:
    """Yields the rollouts of a step, each under its rank by reward."""
    for rank, rollout in enumerate(rollouts, start=1):
        head = f"Rollout {rollout.id}, row {rollout.prompt_index}, reward {rollout.reward}"
        messages = _fenced(rollout.trace.get("messages"))
        text = f"{head}\n\n{messages}"
        if len(text) > _MOST:
            text = f"{text[:_MOST]}\n… {len(text) - _MOST} more characters"
        yield Document(f"rollouts/{rank}", step, text)


def _fenced(value: Any) -> str:
    """Returns JSON as an indented block of Markdown: no text in it can end the block."""
    lines = json.dumps(value, indent=2, ensure_ascii=False, default=str).splitlines()
    return "\n".join(f"    {line}" for line in lines)
