"""Reads what events of a job announced, as an update for a tracker."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.database import Database
from app.events.reader_store import event_reader
from app.events.store import CommittedEvent
from app.jobs.claims import JobReaderUnitOfWork, TrackedJob, TrackedJobsUnitOfWork, job_reader
from app.jobs.integrations import DEFAULT_TRACES, TrackerKind, trackers_of
from app.jobs.jobs import TERMINAL
from app.rollouts.rollouts import RolloutFilter, RolloutRow
from workers.trackers.tracker import TracedRollout, TrackerUpdate, cut_messages

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TrackedIntegration:
    job: TrackedJob
    position: int
    kind: TrackerKind

    @property
    def consumer(self) -> str:
        return f"tracker:{self.position}:{self.kind}"

    @property
    def key(self) -> Key:
        return self.consumer, self.job.id

    @property
    def options(self) -> dict[str, Any]:
        options: dict[str, Any] = self.job.integrations[self.position][self.kind]
        return options


async def tracked_integrations(database: Database) -> list[TrackedIntegration]:
    """Returns the trackers of all jobs for which something is left to write, or may come."""
    async with TrackedJobsUnitOfWork(database) as unit:
        jobs = await unit.jobs()
    followed = [
        TrackedIntegration(job, position, kind)
        for job in jobs
        for position, kind in trackers_of(job.integrations)
    ]
    if not followed:
        return []
    async with event_reader(database) as unit:
        consumers = {tracked.consumer for tracked in followed}
        ended = await unit.cursors.ended(consumers, {tracked.job.id for tracked in followed})
    return [tracked for tracked in followed if tracked.key not in ended]


_MOST_STEPS: Final = 200
"""Steps whose rollouts are read again when a tracker gets everything again."""


@dataclass(frozen=True, slots=True)
class AnnouncedUpdate:
    trained: tuple[int, ...]
    first: int | None
    """The first step with points; `None` for all steps."""
    ended: bool
    at: float


def announced_by(events: Sequence[CommittedEvent]) -> AnnouncedUpdate | None:
    """`None` without points. The end of a job announces every point, so that none is missing."""
    ended = any(not event.type.startswith("job.") for event in events)
    steps = sorted({step for event in events if (step := _step(event)) is not None})
    if not (ended or steps):
        return None
    trained = sorted({_step(event) or 0 for event in events if event.type == "job.metrics"})
    first = None if ended else steps[0]
    return AnnouncedUpdate(tuple(trained), first, ended, events[-1].created_at)


async def read_update(
    database: Database, tracked: TrackedIntegration, announced: AnnouncedUpdate, *, everything: bool
) -> TrackerUpdate:
    first = None if everything else announced.first
    async with job_reader(database, tracked.job.project_id) as unit:
        job = await unit.job(tracked.job.id)
        points = await unit.metrics.curve(
            job.id, names=None, split=None, after_step=None if first is None else first - 1
        )
        trained: Sequence[int] = announced.trained
        if everything:
            trained = sorted({point.step for point in points if point.split == "train"})
        rollouts: list[TracedRollout] = []
        for step in trained[-_MOST_STEPS:]:
            rollouts += await _traced(unit, job.id, step, count=_traces(tracked))
        report = await unit.reports.get(job.id) if announced.ended else None
    return TrackerUpdate(
        points=points,
        settings={
            "id": job.id,
            "model": job.model,
            "training_file": job.training_file,
            "validation_file": job.validation_file,
            "seed": job.seed,
            "suffix": job.suffix,
            "metadata": job.metadata,
            "method": job.method.document,
        },
        rollouts=rollouts,
        report=report,
        step=job.step,
        outcome=str(job.status) if announced.ended and job.status in TERMINAL else None,
        written_at=announced.at,
    )


def _traces(tracked: TrackedIntegration) -> int:
    count: int = tracked.options.get("traces_per_step", DEFAULT_TRACES)
    return count


def _step(event: CommittedEvent) -> int | None:
    step = (event.data.get("data") or {}).get("step")
    return step if isinstance(step, int) else None


async def _traced(
    unit: JobReaderUnitOfWork, job_id: str, step: int, *, count: int
) -> list[TracedRollout]:
    """Returns rollouts of the highest and of the lowest rewards of a training step, by reward."""
    where = RolloutFilter(split="train", step=step)
    lowest = count // 2
    found = dict[str, RolloutRow]()
    for limit, descending in ((count - lowest, True), (lowest, False)):
        if limit:
            page, _ = await unit.rollouts.page(
                job_id, where, after=None, limit=limit, order_by="reward", descending=descending
            )
            found |= {rollout.id: rollout for rollout in page}
    # On a thread: the messages of a rollout may be long, and all trackers share the loop.
    return await asyncio.to_thread(_ranked, list(found.values()), step)


def _ranked(found: list[RolloutRow], step: int) -> list[TracedRollout]:
    ranked = sorted(found, key=lambda rollout: -(rollout.reward or 0.0))
    return [
        TracedRollout(
            step=step,
            rank=rank,
            id=rollout.id,
            row=rollout.prompt_index,
            reward=rollout.reward,
            messages=cut_messages(rollout.trace.get("messages")),
        )
        for rank, rollout in enumerate(ranked, start=1)
    ]
