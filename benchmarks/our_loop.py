"""The side of this project in a benchmark: one engine process, one trainer, steps of sample, train
and publish.

The parts are those of the product: the CPU engine as a process over HTTP, the rollout room, group
advantages, `LoraTrainer`, adapters written to disk, loaded under a new name and compared with the
trainer on a probe. Other parts of a job (database, journal on disk, events) are left out.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from app.files.datasets import DatasetRow
from app.kit.errors import together
from app.kit.ids import GroupKey, SampleKey
from app.local.state import free_port
from app.models.engine_http import HttpInference
from app.rollouts.renderer import Renderer
from app.rollouts.trajectory import Grade, ScoredRollout, Trajectory
from workers.compute import run_on_compute_thread
from workers.engines.policy import EnginePolicy
from workers.environments.tool_environment import HttpTools, ToolEnvironment
from workers.grading.job_grader import PerSampleScorer, SampleGrader
from workers.journal import InMemoryJournal, Journal
from workers.learning.advantages import group_advantages
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainingSample
from workers.rollout.environment import (
    EpisodeLimits,
    Policy,
    RolloutTools,
    SampledTurn,
    SamplingParams,
)
from workers.rollout.episode import RolloutSetup, RolloutSlots, ScoredGroup, run_group

ROOT = Path(__file__).parents[1]


@dataclass(slots=True)
class StepTimes:
    """Seconds of one step, and its sampled tokens."""

    rollout_s: float
    train_s: float
    publish_s: float
    sampled_tokens: int
    reward: float
    cpu_s: float

    @property
    def total_s(self) -> float:
        return self.rollout_s + self.train_s + self.publish_s


class EvenTokens:
    """Rewards the share of even ids among the sampled ones: needs no network and differs between
    rollouts.
    """

    async def grade(
        self,
        trajectory: Trajectory,
        row: DatasetRow,  # noqa: ARG002 - the protocol's
        key: SampleKey,  # noqa: ARG002 - as above
        *,
        journal: Journal,  # noqa: ARG002 - the signature of the protocol
    ) -> Grade:
        return Grade(even_share([token for turn in trajectory.turns for token in turn.token_ids]))


def even_share(ids: Sequence[int]) -> float:
    return sum(token % 2 == 0 for token in ids) / max(1, len(ids))


class NeverStops:
    """The engine's policy without stop tokens, so that every turn has its full length."""

    def __init__(self, inner: Policy) -> None:
        self._inner = inner

    async def sample(self, prompt_token_ids: list[int], params: SamplingParams) -> SampledTurn:
        return await self._inner.sample(prompt_token_ids, replace(params, stop_token_ids=()))


@contextmanager
def engine_process(
    model_dir: Path, name: str, *, root: Path, threads: int
) -> Iterator[tuple[str, int]]:
    """Base URL and process id of a CPU engine that serves one model."""
    config = json.loads((model_dir / "config.json").read_text())
    spec = {
        "name": name,
        "path": str(model_dir),
        "context_length": config["max_position_embeddings"],
    }
    models = root / "models.json"
    models.write_text(json.dumps([spec]))
    port = free_port()
    command = [sys.executable, "-m", "workers.engines.cpu", "--port", str(port)]
    command += ["--models-json", str(models), "--threads", str(threads)]
    process = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    try:
        url = f"http://127.0.0.1:{port}"
        asyncio.run(_until_healthy(url))
        yield url, process.pid
    finally:
        process.terminate()
        process.wait()


async def _until_healthy(url: str) -> None:
    client = HttpInference(url)
    while not await client.healthy():  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.05)
    await client.aclose()


def cpu_seconds(pid: int) -> float:
    """User and system time a process has used; Linux only."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class OurLoop:
    """Runs steps over the passed rows. Call all methods from one event loop."""

    def __init__(
        self,
        url: str,
        pid: int,
        *,
        name: str,
        model_dir: Path,
        trainer: LoraTrainer,
        adapters: Path,
        tools: RolloutTools,
        limits: EpisodeLimits,
        group_size: int,
        full_length: bool,
        grader: SampleGrader | None = None,
        seed: int = 0,
    ) -> None:
        """`full_length`: turns end at `limits.max_turn_tokens` only. `grader`: `EvenTokens` when it
        is left out.
        """
        self._pid = pid
        self._trainer = trainer
        self._adapters = adapters
        self._group_size = group_size
        self._inference = HttpInference(url)
        self._engine = EnginePolicy(self._inference, base_model=name)
        self._policy: Policy = NeverStops(self._engine) if full_length else self._engine
        self._setup = RolloutSetup(
            renderer=Renderer(str(model_dir), tool_parser="hermes", chat_template=None),
            new_environment=partial(ToolEnvironment, tools),
            scorer=PerSampleScorer(grader or EvenTokens()),
            limits=limits,
            job_seed=seed,
            temperature=1.0,
            slots=RolloutSlots(1024),
        )
        self._step = 0

    async def step(self, rows: Sequence[DatasetRow]) -> StepTimes:
        cpu = cpu_seconds(self._pid) + time.process_time()
        started = time.perf_counter()
        rollouts = await self.sample(rows)
        sampled = time.perf_counter()
        samples = _samples(rollouts, self._group_size)
        await run_on_compute_thread(self._trainer.update, samples)
        trained = time.perf_counter()
        await self._publish(rollouts[0].trajectory.row.tokens[:256])
        published = time.perf_counter()
        rewards = [rollout.reward for rollout in rollouts if rollout.reward is not None]
        return StepTimes(
            rollout_s=sampled - started,
            train_s=trained - sampled,
            publish_s=published - trained,
            sampled_tokens=sum(rollout.trajectory.completion_tokens for rollout in rollouts),
            reward=sum(rewards) / len(rewards),
            cpu_s=cpu_seconds(self._pid) + time.process_time() - cpu,
        )

    async def sample(self, rows: Sequence[DatasetRow]) -> list[ScoredRollout]:
        self._step += 1
        journal = InMemoryJournal()

        def play(row: DatasetRow) -> Coroutine[Any, Any, ScoredGroup]:
            keys = GroupKey("bench", "train", self._step, row.index).samples(self._group_size)
            return run_group(self._setup, row, keys, policy=self._policy, journal=journal)

        groups = await together(map(play, rows))
        rollouts = [rollout for group in groups for rollout in group.rollouts]
        failures = [rollout.failure for rollout in rollouts if rollout.failure]
        if failures:
            raise RuntimeError(f"a rollout failed: {failures[0]}")
        return rollouts

    async def aclose(self) -> None:
        await self._inference.aclose()

    async def _publish(self, probe: list[int]) -> None:
        version = self._step
        directory = self._adapters / f"v{version}"
        await run_on_compute_thread(self._trainer.save_adapter, directory)
        await self._engine.publish(version, directory, f"bench-v{version}")
        mine, theirs = await asyncio.gather(
            run_on_compute_thread(self._trainer.logprobs, probe), self._engine.probe(probe)
        )
        worst = max(abs(a - b) for a, b in zip(mine, theirs, strict=True))
        if worst > 1e-3:
            raise RuntimeError(f"the engine and the trainer differ by {worst:.2g}")
        await self._engine.retire(version - 2)


def _samples(rollouts: Sequence[ScoredRollout], group_size: int) -> list[TrainingSample]:
    samples = []
    for start in range(0, len(rollouts), group_size):
        group = rollouts[start : start + group_size]
        outcome = group_advantages([rollout.reward for rollout in group], min_valid=2)
        samples += [
            sample
            for rollout, advantage in zip(group, outcome.advantages, strict=True)
            if advantage is not None
            for sample in TrainingSample.of_rollout(rollout.trajectory, advantage)
        ]
    return samples


def no_tools() -> RolloutTools:
    """Returns the tools of a job without tools."""
    nothing: Any = None
    return HttpTools(nothing, nothing, ())
