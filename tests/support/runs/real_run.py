"""Whole runs in the test process: real files, Postgres, CPU engine and trainer on a tiny model.

Only the customer's grader is a script. A job of two steps takes about a second.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.files.files import FileRow
from app.jobs.jobs import Checkpoint, Job, JobEvent
from app.jobs.methods import stored_method
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.stop_options import ReinforcementStopOptions
from app.kit.egress import EgressReply, EgressRequest
from app.kit.ids import new_id
from app.kit.objects import build_objects, put_bytes
from app.models.engine_http import HttpInference
from app.models.models import BaseModelSpec
from app.rollouts.rollouts import RolloutFilter, RolloutRow
from tests.support.engines.engine_server import running_engine
from tests.support.models.tiny_model import DROPS_THINKING, save_tiny_model
from tests.support.patience import PATIENCE_S
from tests.support.runs.world import World
from tests.support.store.new_jobs import CREATED, insert_job
from tests.support.twins import InMemoryEgress
from workers.job_child import job_run
from workers.runs.context import RunContext

ROWS = 10
"""Rows of each file: the minimum."""
QUIET: dict[str, Any] = {
    name: {"action": "off"} for name, rule in ReinforcementStopOptions() if rule is not None
}
"""Stop rules of a job that is warned of nothing."""
SPEC = BaseModelSpec(
    name="tiny-2026",
    path="",
    context_length=256,
    max_turn_tokens=8,
    lora_rank=2,
    lora_alpha=4,
    learning_rate=1e-3,
    supervised_learning_rate=1e-3,
    dpo_learning_rate=1e-3,
)


@dataclass(frozen=True, slots=True)
class TinyEngine:
    spec: BaseModelSpec
    url: str


@contextmanager
def tiny_engine(directory: Path, template: str = DROPS_THINKING) -> Iterator[TinyEngine]:
    spec = SPEC.model_copy(update={"path": str(save_tiny_model(directory, template))})
    with engine_of(spec) as engine:
        yield engine


@contextmanager
def engine_of(spec: BaseModelSpec) -> Iterator[TinyEngine]:
    with running_engine([spec]) as url:
        yield TinyEngine(spec, url)


def by_text(answer: str) -> float:
    """Returns a reward that differs from answer to answer, and is the same for the same one."""
    return hashlib.sha256(answer.encode()).digest()[0] / 255


@dataclass
class Script:
    """The customer's grader. Held-out rewards are those of `valid`, one validation after another,
    the base model's first; the last one continues.
    """

    valid: Sequence[float] = (0.5,)
    train: Callable[[str], float] = by_text
    samples: int = 1
    tool: str = "nothing"
    """Reply of every tool."""
    asked: dict[str, int] = field(default_factory=lambda: {"train": 0, "valid": 0})

    def __call__(self, request: EgressRequest) -> EgressReply:
        body = json.loads(request.body)
        if body.get("type") == "function_call":
            output = {
                "type": "function_call_output",
                "call_id": body["call_id"],
                "output": self.tool,
                "id": body["id"],
            }
            return EgressReply(200, {}, json.dumps(output).encode(), 0.0)
        split = "valid" if body["item"]["held_out"] else "train"
        number = self.asked[split] // (ROWS * self.samples)
        self.asked[split] += 1
        value = (
            self.valid[min(number, len(self.valid) - 1)]
            if split == "valid"
            else self.train(body["sample"]["output_text"])
        )
        return EgressReply(200, {}, json.dumps({"score": value}).encode(), 0.0)


@dataclass(frozen=True, slots=True)
class RealRuns:
    world: World
    engine: TinyEngine
    rows: Sequence[dict[str, Any]] = tuple(
        {"messages": [{"role": "user", "content": f"part P{n}?"}]} for n in range(ROWS)
    )

    async def job(self, *, seed: int = 7, **method: Any) -> Job:
        """Makes a job of ten rows; `method` changes its two groups of two on five rows."""
        hyper = {
            "n_epochs": 1,
            "batch_size": 5,
            "compute_multiplier": 0.25,
            "eval_interval": 1,
            "eval_greedy": False,
            **method.pop("hyperparameters", {}),
        }
        grader = {"type": "endpoint", "name": "g", "url": "http://grader.test/"}
        sent = {"grader": grader, **method, "hyperparameters": hyper}
        checked = ReinforcementMethod.model_validate(sent)
        reinforcement = checked.model_dump(mode="json", exclude_unset=True)
        job = replace(
            await self.world.job(),
            id=new_id("ftjob-"),
            model=self.engine.spec.name,
            training_file=await self._file(held_out=False),
            validation_file=await self._file(held_out=True),
            method=stored_method({"type": "reinforcement", "reinforcement": reinforcement}),
            seed=seed,
        )
        await insert_job(self.world.app, self.world.tenant, job)
        return job

    async def _file(self, *, held_out: bool) -> str:
        rows = [{**row, "held_out": held_out} for row in self.rows]
        content = "\n".join(map(json.dumps, rows)).encode()
        file_id, key = new_id("file-"), new_id("objects/")
        await put_bytes(build_objects(self.world.settings), key, content)
        row = FileRow(
            file_id, "", "a", "fine-tune", len(content), "0", key, "processed", None, 0, None
        )
        async with self.world.app.tenant(self.world.tenant) as unit:
            await unit.files.insert(row)
        return file_id

    @asynccontextmanager
    async def context(self, job: Job, script: Script) -> AsyncIterator[RunContext]:
        """Yields a new claim of the job."""
        inference = HttpInference(self.engine.url)
        context = await self.world.context(job)
        try:
            yield replace(
                context,
                egress=InMemoryEgress(script),
                inference=inference,
                base_model=self.engine.spec,
                method=context.job.method.parse(),
            )
        finally:
            await inference.aclose()

    async def run(self, job: Job, script: Script | None = None) -> Job:
        """Runs one claim, to whatever it ends with."""
        async with self.context(job, script or Script()) as context:
            await asyncio.wait_for(job_run(context).run(), PATIENCE_S)
        return await self.world.read(job)

    async def resume(self, job: Job) -> None:
        async with self.world.app.tenant(self.world.tenant) as unit:
            await unit.jobs.mark_queued(job.id)

    def adapters(self, job: Job) -> dict[int, bytes]:
        """Returns the adapter weights on disk by step."""
        root = self.world.settings.objects_dir / f"projects/{job.project_id}/jobs/{job.id}"
        return {
            int(path.parent.parent.name.split("-")[1]): path.read_bytes()
            for path in root.glob("*/adapter/adapter_model.safetensors")
        }

    async def rollouts(self, job: Job, split: str, step: int | None = None) -> list[RolloutRow]:
        rows: list[RolloutRow] = []
        more = True
        async with self.world.app.tenant(self.world.tenant) as unit:
            while more:
                page, more = await unit.rollouts.page(
                    job.id,
                    RolloutFilter(split=split, step=step),  # type: ignore[arg-type]  # mypy widens the literal of a loop variable
                    after=rows[-1].id if rows else None,
                    limit=100,
                )
                rows += page
        return rows

    async def curve(self, job: Job, name: str, split: str = "train") -> dict[int, float]:
        async with self.world.app.tenant(self.world.tenant) as unit:
            points = await unit.metrics.curve(
                job.id,
                names=[name],
                split=split,  # type: ignore[arg-type]  # mypy widens the literal of a loop variable
                after_step=None,
            )
        return {point.step: point.value for point in points}

    async def checkpoints(self, job: Job) -> list[Checkpoint]:
        async with self.world.app.tenant(self.world.tenant) as unit:
            rows, _ = await unit.checkpoints.page(job.id, after=None, limit=100)
        return rows

    async def events(self, job: Job) -> list[JobEvent]:
        """Returns the events that runs appended after the job's first one, oldest first."""
        async with self.world.app.tenant(self.world.tenant) as unit:
            events, _ = await unit.events.page(job.id, after=None, limit=100)
        created, *appended = events[::-1]
        assert created.message == CREATED
        return appended

    async def warnings(self, job: Job) -> list[str]:
        """Returns the messages of level warn, but for the first (both files have the same rows) and
        the verdict of a job that has succeeded.
        """
        first, *others = [
            one.message
            for one in await self.events(job)
            if one.level == "warn" and "verdict" not in (one.data or {})
        ]
        assert first.startswith(f"{len(self.rows)} rows of the validation file")
        return others

    async def report(self, job: Job) -> dict[str, Any]:
        async with self.world.app.tenant(self.world.tenant) as unit:
            found = await unit.reports.get(job.id)
        assert found is not None
        return found
