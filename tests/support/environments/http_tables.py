"""Plays rollouts with a scripted policy in an HTTP environment over real sockets."""

import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from app.files.datasets import DatasetRow
from app.kit.endpoints import CallSigner
from app.rollouts.trajectory import Failure, ScoredRollout, Trajectory
from tests.support.endpoints import EndpointServer, Script, endpoint
from tests.support.environments.number_game import game_row
from tests.support.patience import PATIENCE_S
from tests.support.rollout.policies import ScriptedPolicy, Writer, call_text
from tests.support.rollout.rollouts import KEY, SECRET_KEY, egress_to, pool
from workers.environments.http_environment import EnvironmentEndpoint, HttpEnvironment
from workers.journal import InMemoryJournal
from workers.rollout.environment import EpisodeLimits
from workers.rollout.episode import RolloutFailure, run_episode

LIMITS = EpisodeLimits(max_episode_steps=20, context_length=2048, max_turn_tokens=200)
HEADERS = {"X-Key": "canary-environment"}
SEED = 7


def guess(n: int) -> str:
    return call_text("guess", json.dumps({"n": n}))


@dataclass
class Table:
    """One environment, and the rollouts that are played in it."""

    writer: Writer
    server: EndpointServer
    egress: Any
    timeout_s: float = 5.0
    episode_waiting_limit_s: float = PATIENCE_S
    clock: Callable[[], float] = time.monotonic
    journal: Any = field(default_factory=InMemoryJournal)
    row: DatasetRow = field(default_factory=lambda: game_row(42))

    async def play(self, *turns: str, limits: EpisodeLimits = LIMITS) -> Trajectory:
        """Plays a rollout whose turns are these."""
        scripted = [[*self.writer.ids(turn), self.writer.end] for turn in turns]
        customer = EnvironmentEndpoint(
            pool(self.egress, timeout_s=self.timeout_s).endpoint(self.server.url("/world")),
            CallSigner(SECRET_KEY, project_id="proj_a"),
            "world",
            HEADERS,
            self.episode_waiting_limit_s,
            self.clock,
        )
        return await run_episode(
            self.row,
            KEY,
            policy=ScriptedPolicy(scripted, self.writer.renderer.stop_token_ids),
            renderer=self.writer.renderer,
            environment=HttpEnvironment(customer, job_seed=SEED),
            journal=self.journal,
            limits=limits,
            job_seed=SEED,
            temperature=1.0,
        )

    async def lost(self, *turns: str) -> Failure:
        with pytest.raises(RolloutFailure) as caught:
            await self.play(*turns)
        failure = caught.value.failure
        assert failure.source == "world"
        scored = ScoredRollout(caught.value.trajectory, failure=failure)
        assert scored.reward is None
        return failure


@asynccontextmanager
async def table(writer: Writer, script: Script, **changes: Any) -> AsyncIterator[Table]:
    async with endpoint(script) as server:
        egress = egress_to(server)
        try:
            yield Table(writer, server, egress, **changes)
        finally:
            await egress.aclose()
