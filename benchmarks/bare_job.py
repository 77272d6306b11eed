"""The steps of one job in this process, without the service: `service_overhead.py`'s other side."""

import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from app.files.datasets import DatasetRow, parse_rows
from app.jobs.learning import LearningOptions, resolved_learning
from app.kit.egress import EgressPolicy
from app.kit.egress_client import EgressClient
from app.kit.ids import SampleKey
from app.models.models import BaseModelSpec
from app.rollouts.trajectory import Grade, Trajectory
from benchmarks.our_loop import OurLoop
from benchmarks.talkative import CONTEXT_LENGTH, NAME
from tests.support.rollout.rollouts import caller, pool
from workers.journal import Journal
from workers.learning.lora_trainer import LoraTrainer
from workers.methods.reinforcement.training import trainer_options
from workers.rollout.environment import EpisodeLimits

LEARNING_RATE = 1e-12


class AgentGrader:
    """Grades by the agent's endpoint, as the job's grader does."""

    def __init__(self, agent: str) -> None:
        self._client = httpx.AsyncClient(base_url=agent, timeout=30)

    async def grade(
        self,
        trajectory: Trajectory,
        row: DatasetRow,
        key: SampleKey,
        *,
        journal: Journal,  # noqa: ARG002 - the signature of the protocol
    ) -> Grade:
        last = trajectory.turns[-1].content if trajectory.turns else ""
        body = {"sample": {"output_text": last}, "item": row.item, "trace_id": key.trace_id}
        reply = await self._client.post("/grade", json=body)
        return Grade(float(reply.raise_for_status().json()["score"]))

    async def aclose(self) -> None:
        await self._client.aclose()


class BareJob:
    def __init__(
        self,
        model: Path,
        agent: str,
        url: str,
        pid: int,
        *,
        seed: int,
        group_size: int,
        scratch: Path,
    ) -> None:
        """`url` and `pid`: the engine's address and process. `scratch` holds the adapters."""
        self._model, self._agent, self._url, self._pid = model, agent, url, pid
        self._seed, self._group_size, self._scratch = seed, group_size, scratch

    async def run(
        self,
        rows: list[DatasetRow],
        *,
        batch: int,
        max_episode_steps: int,
        max_turn_tokens: int,
    ) -> dict[str, Any]:
        """Runs one step for each `batch` rows, and returns the measurements of `Stack.run_job`
        that both sides have.
        """
        grader = AgentGrader(self._agent)
        egress = EgressClient(
            EgressPolicy(frozenset({urlsplit(self._agent).netloc}), allow_plain_http=True)
        )
        loop = OurLoop(
            self._url,
            self._pid,
            name=NAME,
            model_dir=self._model,
            trainer=self._trainer(),
            adapters=self._scratch,
            tools=caller(pool(egress, timeout_s=30), {"lookup": f"{self._agent}/tools"}),
            limits=EpisodeLimits(
                max_episode_steps=max_episode_steps,
                context_length=CONTEXT_LENGTH,
                max_turn_tokens=max_turn_tokens,
            ),
            group_size=self._group_size,
            full_length=False,
            grader=grader,
            seed=self._seed,
        )
        started = time.perf_counter()
        times = [await loop.step(rows[at : at + batch]) for at in range(0, len(rows), batch)]
        wall_s = time.perf_counter() - started
        await loop.aclose()
        await grader.aclose()
        await egress.aclose()
        tokens = sum(step.sampled_tokens for step in times)
        return {
            "steps": len(times),
            "rollouts": len(rows) * self._group_size,
            "wall_s": wall_s,
            "tokens": tokens,
            "tokens_per_s": tokens / wall_s,
            "step_s": wall_s / len(times),
        }

    def _trainer(self) -> LoraTrainer:
        spec = BaseModelSpec(name=NAME, path=str(self._model), context_length=CONTEXT_LENGTH)
        return LoraTrainer(
            spec.path,
            base_name=NAME,
            rank=spec.lora_rank,
            alpha=spec.lora_alpha,
            learning_rate=LEARNING_RATE,
            seed=self._seed,
            options=trainer_options(resolved_learning(LearningOptions(), spec)),
        )


def read_rows(path: Path) -> list[DatasetRow]:
    return parse_rows(path.read_bytes().splitlines(), {"lookup"}, 100_000)
