"""Jobs that are created over HTTP and trained by a claim's own writes: rows of every kind, objects
on disk, three checkpoints, and the model of the second as the published one.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.database import Database as Store
from app.files.files import FileRow
from app.jobs.claims import job_claims
from app.jobs.jobs import Checkpoint, Usage
from app.jobs.methods import StoredReinforcementMethod
from app.kit.errors import RunFailed
from app.kit.ids import new_id
from app.kit.leases import Lease
from app.kit.objects import LocalObjects, Objects
from app.models.engine import AdapterCache, Completion
from app.models.models import TunedModel
from app.rollouts.metrics import MetricPoint
from app.settings import RetentionSettings
from tests.support.api.application import Api
from tests.support.api.job_calls import JOBS
from tests.support.api.organization import execute
from tests.support.engines.in_memory import InMemoryInference
from tests.support.stack import Database
from tests.support.store.claims import claim_row
from tests.support.store.rows import a_rollout
from workers.maintenance.expiry import expire
from workers.runs.job import RunEnding

STEPS = (1, 2, 3)
PUBLISHED = 2
ROLLOUTS = 5
_TABLES = (
    *("rollouts", "job_events", "job_metrics", "checkpoints", "reports", "tuned_models"),
    *("evals", "journal"),
)


@dataclass(frozen=True, slots=True)
class TrainedJob:
    id: str
    project_id: str
    model: str
    result_file: str

    def checkpoint(self, step: int) -> str:
        return f"{self.model}:ckpt-step-{step}"

    def engine_name(self, step: int) -> str:
        return f"model-{self.id}-{step}"

    def key(self, step: int) -> str:
        return f"projects/{self.project_id}/jobs/{self.id}/step-{step:06}-f1/adapter"


class TrainedJobs:
    def __init__(self, api: Api, database: Database, body: dict[str, Any]) -> None:
        self.api, self.database, self.body = api, database, body
        self.settings = database.settings
        self.objects = LocalObjects(self.settings.objects_dir)
        self.cache = AdapterCache(self.objects, self.settings.work_dir / "adapters", max_bytes=1)
        self.inference = InMemoryInference(lambda *_: Completion((1,), (-0.5,), "stop", ()))
        self.worker = Store(database.worker_url, pool_size=2)

    async def created(self, *, key: str | None = None, body: dict[str, Any] | None = None) -> str:
        made = await self.api.call("POST", JOBS, json=body or self.body, key=key)
        assert made.status_code == 200, made.text
        return str(made.json()["id"])

    async def succeeded(
        self, *, key: str | None = None, body: dict[str, Any] | None = None
    ) -> TrainedJob:
        job, fence = await self._claimed(await self.created(key=key, body=body))
        await self._train(job, fence, trained_tokens=7)
        result = FileRow(
            *(job.result_file, job.project_id, "m.csv", "fine-tune-results", 1, "0"),
            *(f"projects/{job.project_id}/files/{job.result_file}", "processed", None, 0, None),
        )
        self._write(result.object_key)
        async with self.worker.run(job.project_id, job.id, fence) as unit:
            await unit.files.insert(result)
            await unit.models.insert(self._model(job, job.model, PUBLISHED, "published"))
            await unit.reports.upsert(job.id, {"a": 1})
            await unit.jobs.mark_succeeded(job.model, result_files=[job.result_file])
        return job

    async def failed(self, *, trained_tokens: int) -> TrainedJob:
        job, fence = await self._claimed(await self.created())
        await self._train(job, fence, trained_tokens=trained_tokens)
        ending = RunEnding(self.worker, self.objects, Lease(job.id, job.project_id, fence))
        await ending.failed(RunFailed("no", code="x"))
        return job

    async def left_by_its_workers(self, *, trained_tokens: int) -> TrainedJob:
        """Returns a job in training whose lease has run out."""
        job, fence = await self._claimed(await self.created())
        await self._train(job, fence, trained_tokens=trained_tokens)
        execute(self.database, "UPDATE fine_tuning_jobs SET lease_until = now() - interval '1s'")
        return job

    async def _claimed(self, job_id: str) -> tuple[TrainedJob, int]:
        lease = await claim_row(job_claims(self.worker), job_id, lease_s=600.0)
        assert lease is not None
        model = f"ft:tiny:first:ckpt-step-9:{job_id}"  # a suffix that looks like a step
        return TrainedJob(job_id, lease.project_id, model, new_id("file-")), lease.fence

    async def _train(self, job: TrainedJob, fence: int, *, trained_tokens: int) -> None:
        async with self.worker.run(job.project_id, job.id, fence) as unit:
            await unit.jobs.mark_validated(3, StoredReinforcementMethod(self.body["method"]))
            await unit.jobs.mark_running()
            rows = [a_rollout(job.id, sample) for sample in range(ROLLOUTS)]
            await unit.rollouts.insert_many(job.id, rows)
            await unit.metrics.upsert(job.id, [MetricPoint("reward/mean", "train", 1, 0.5)])
            await unit.journal.put_many(job.id, 4, [("k", "s", {})])
        for step in STEPS:
            self._write(f"{job.key(step)}/weights")
            name = job.checkpoint(step)
            checkpoint = Checkpoint(new_id("ftckpt_"), job.id, step, 0, name, {"reward": 0.5})
            async with self.worker.run(job.project_id, job.id, fence) as unit:
                await unit.checkpoints.insert(checkpoint, object_key=job.key(step))
                await unit.models.insert(self._model(job, name, step, str(step)))
                await unit.jobs.commit_step(
                    step,
                    resume_key=None,
                    adapter_key=job.key(step),
                    usage=Usage(trained_tokens=trained_tokens),
                    estimated_finish=0,
                )

    def _model(self, job: TrainedJob, name: str, step: int, suffix: str) -> TunedModel:
        engine_name = f"model-{job.id}-{suffix}"
        return TunedModel(
            *(name, job.project_id, job.id, "tiny-agent-2026-11-23", engine_name),
            *(job.key(step), step, 0),
        )

    def _write(self, key: str) -> None:
        path = self.settings.objects_dir / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")

    def age(self, job: TrainedJob, interval: str) -> None:
        """Lets the end, and a deletion, of the job be longer ago."""
        execute(
            self.database,
            "UPDATE fine_tuning_jobs SET finished_at = finished_at - %s::interval,"
            " deleted_at = deleted_at - %s::interval, clean_after = clean_after - %s::interval"
            " WHERE id = %s",
            *(interval, interval, interval, job.id),
        )

    async def sweep(
        self, retention: RetentionSettings | None = None, *, objects: Objects | None = None
    ) -> None:
        await expire(
            self.worker,
            objects or self.objects,
            self.inference,
            retention=retention,
            adapters=self.cache,
            trackers_dir=self.settings.trackers_dir,
        )

    def rows(self, job: TrainedJob) -> dict[str, int]:
        """Returns the number of rows of the job by table, without the tables that have none."""
        counts: Counter[str] = Counter()
        for table in (*_TABLES, "fine_tuning_jobs"):
            column = "id" if table == "fine_tuning_jobs" else "job_id"
            query = f"SELECT count(*) FROM {table} WHERE {column} = %s"
            [(counts[table],)] = execute(self.database, query, job.id)
        return {table: count for table, count in counts.items() if count}

    def bytes_of(self, job: TrainedJob) -> list[str]:
        """Returns the stored files below the job's directory."""
        root = self.settings.objects_dir / f"projects/{job.project_id}/jobs/{job.id}"
        return sorted(
            str(path.relative_to(root).parent) for path in root.rglob("*") if path.is_file()
        )

    def tracked(self, job: TrainedJob) -> Path:
        """Returns the event files of a job, which it does not have otherwise."""
        path = self.settings.trackers_dir / f"tensorboard/{job.project_id}/{job.id}/train"
        path.mkdir(parents=True, exist_ok=True)
        return path

    def result_bytes(self, job: TrainedJob) -> Path:
        return self.settings.objects_dir / f"projects/{job.project_id}/files/{job.result_file}"

    async def status(self, method: str, path: str, *, key: str | None = None) -> int:
        return int((await self.api.call(method, path, key=key)).status_code)
