"""Reads what events of a job announced, as a record for a tracker."""

from collections.abc import Sequence

from app.domain.events.log import CommittedEvent
from app.domain.rollouts.rollouts import RolloutFilter, RolloutRow
from app.store.database import Database
from app.store.jobs.tracked_jobs import JobReaderUnitOfWork, job_reader
from workers.trackers.documents import report_of, rollouts_of, settings_of
from workers.trackers.records import Record
from workers.trackers.tracked import Tracked


async def read_record(
    database: Database, tracked: Tracked, events: Sequence[CommittedEvent]
) -> Record | None:
    """Returns the points and documents of a job's events; `None` for events without any. The end
    of a job announces every point, so that none is missing in a finished tracker.
    """
    ended = any(not event.type.startswith("job.") for event in events)
    steps = sorted({step for event in events if (step := _step(event)) is not None})
    if not (ended or steps):
        return None
    trained = sorted({_step(event) or 0 for event in events if event.type == "job.metrics"})
    async with job_reader(database, tracked.job.project_id) as unit:
        job = await unit.job(tracked.job.id)
        documents = [settings_of(job)]
        for step in trained:
            rollouts = await _traces(unit, job.id, step, count=tracked.options["traces_per_step"])
            documents += rollouts_of(step, rollouts)
        report = await unit.reports.get(job.id) if ended else None
        points = await unit.metrics.curve(
            job.id, names=None, split=None, after_step=None if ended else steps[0] - 1
        )
    if report is not None:
        documents.append(report_of(job, report))
    return Record(points, documents, written_at=events[-1].created_at)


def _step(event: CommittedEvent) -> int | None:
    """Returns the step that an event is about."""
    step = (event.data.get("data") or {}).get("step")
    return step if isinstance(step, int) else None


async def _traces(
    unit: JobReaderUnitOfWork, job_id: str, step: int, *, count: int
) -> list[RolloutRow]:
    """Returns rollouts of the highest and of the lowest rewards of a training step, by reward."""
    where = RolloutFilter(split="train", step=step)
    lowest = count // 2
    found = dict[str, RolloutRow]()
    for limit, descending in ((count - lowest, True), (lowest, False)):
        if limit:
            page, _ = await unit.rollouts.page(
                job_id,
                where,
                after=None,
                limit=limit,
                order_by="reward",
                descending=descending,
            )
            found |= {rollout.id: rollout for rollout in page}
    return sorted(found.values(), key=lambda rollout: -(rollout.reward or 0.0))
