"""Lists every write of a run that must carry its fence."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from app.database import RunUnitOfWork
from app.evals.evals import EvalRun, EvalRunStatus
from app.files.files import FileRow
from app.jobs.jobs import AttachedEval, Checkpoint, JobError, Usage
from app.jobs.methods import StoredSupervisedMethod
from app.kit.errors import NotFound
from app.models.models import TunedModel
from app.rollouts.metrics import MetricPoint
from tests.support.store.rows import a_rollout

Verb = Callable[[RunUnitOfWork, str], Awaitable[Any]]


def a_checkpoint(job_id: str, step: int = 1) -> Checkpoint:
    return Checkpoint(f"ftckpt_{job_id}", job_id, step, 0, f"ft:x:step-{step}", {"reward": 0.5})


def a_model(job_id: str) -> TunedModel:
    return TunedModel(f"ft:{job_id}", "", job_id, "tiny", f"model-{job_id}", "adapters/1", 1, 0)


def a_file(job_id: str) -> FileRow:
    purpose, key = "fine-tune-results", f"files/{job_id}"
    return FileRow(f"file-{job_id}", "", "m.csv", purpose, 1, "0", key, "processed", None, 0, None)


async def _insert_run(unit: RunUnitOfWork) -> None:
    """Inserts a run of an eval that is missing, which the fence refuses before."""
    run = EvalRun(
        id="evalrun_1",
        eval_id="eval_1",
        name="n",
        status=EvalRunStatus.QUEUED,
        model="m",
        data_source={},
    )
    with suppress(NotFound):
        await unit.eval_runs.insert(run)


WRITES: dict[str, Verb] = {
    "jobs.mark_validated": lambda unit, _: unit.jobs.mark_validated(
        9, StoredSupervisedMethod({"type": "supervised"})
    ),
    "jobs.record_listings": lambda unit, _: unit.jobs.record_listings({}),
    "jobs.mark_retained": lambda unit, _: unit.jobs.mark_retained([1]),
    "jobs.mark_ended_early": lambda unit, _: unit.jobs.mark_ended_early({"rule": "plateau"}),
    "jobs.record_reproducibility": lambda unit, _: unit.jobs.record_reproducibility(
        {"reasons": []}
    ),
    "jobs.record_evals": lambda unit, _: unit.jobs.record_evals([AttachedEval("eval_1", {})]),
    "eval_runs.insert": lambda unit, _: _insert_run(unit),
    "jobs.mark_running": lambda unit, _: unit.jobs.mark_running(),
    "jobs.mark_succeeded": lambda unit, _: unit.jobs.mark_succeeded("ft:x"),
    "jobs.mark_failed": lambda unit, _: unit.jobs.mark_failed(JobError("a", "b", None)),
    "jobs.mark_paused": lambda unit, _: unit.jobs.mark_paused(),
    "jobs.put_back": lambda unit, _: unit.jobs.put_back(),
    "jobs.commit_step": lambda unit, _: unit.jobs.commit_step(
        1, resume_key="s", adapter_key="a", usage=Usage(trained_tokens=1), estimated_finish=0
    ),
    "jobs.add_usage": lambda unit, _: unit.jobs.add_usage(Usage(rollouts=1)),
    "events.append": lambda unit, job: unit.events.append(job, message="m"),
    "events.append_once": lambda unit, job: unit.events.append_once(
        job, level="warn", message="m", about="a"
    ),
    "metrics.upsert": lambda unit, job: unit.metrics.upsert(
        job, [MetricPoint("a", "train", 1, 1.0)]
    ),
    "checkpoints.insert": lambda unit, job: unit.checkpoints.insert(
        a_checkpoint(job), object_key="k"
    ),
    "models.insert": lambda unit, job: unit.models.insert(a_model(job)),
    "models.mark_deleted": lambda unit, job: unit.models.mark_deleted(a_model(job).name),
    "rollouts.insert_many": lambda unit, job: unit.rollouts.insert_many(job, [a_rollout(job, 0)]),
    "files.insert": lambda unit, job: unit.files.insert(a_file(job)),
    "reports.upsert": lambda unit, job: unit.reports.upsert(job, {"a": 1}),
    "journal.put_many": lambda unit, job: unit.journal.put_many(job, 1, [("k", "s", {})]),
    "journal.forget": lambda unit, job: unit.journal.forget(job, 1),
    "journal.forget_all": lambda unit, job: unit.journal.forget_all(job),
}
