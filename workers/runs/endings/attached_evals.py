"""Starts the evals that are attached to a job that succeeds."""

from app.domain.errors import NotFound
from app.domain.evals.attached_runs import attached_run
from app.domain.jobs.attached_evals import AttachedEval
from app.domain.jobs.jobs import Job
from app.store.unit_of_work import RunUnitOfWork


async def start_attached(unit: RunUnitOfWork, job: Job, tuned: str) -> None:
    """Inserts a run of each attached eval for the job's start model and for the tuned model, in the
    transaction that publishes the latter. Workers find them without a message.
    """
    if not job.evals:
        return
    started = [await _start(unit, job, each, tuned) for each in job.evals]
    await unit.jobs.record_evals(started)
    for each in started:
        if each.error is not None:
            await unit.events.append(
                job.id,
                level="warn",
                type="message",
                message=each.error,
                data={"eval": each.eval_id},
            )


async def _start(unit: RunUnitOfWork, job: Job, attached: AttachedEval, tuned: str) -> AttachedEval:
    start_run = attached_run(attached, job.id, model=job.model, side="start")
    tuned_run = attached_run(attached, job.id, model=tuned, side="tuned")
    try:
        for run in (start_run, tuned_run):
            await unit.eval_runs.insert(run)
    except NotFound:
        return attached.without_runs()
    return attached.started(start=start_run.id, tuned=tuned_run.id)
