"""Plays one episode of a scripted policy, and checks its tokens."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from app.files.datasets import DatasetRow
from app.kit.egress_client import EgressClient
from app.rollouts.trajectory import Trajectory
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply
from tests.support.patience import PATIENCE_S
from tests.support.rollout.policies import ScriptedPolicy, Writer, call_text
from tests.support.rollout.rollouts import KEY, caller, pool, row
from workers.environments.tool_environment import ToolEnvironment
from workers.journal import InMemoryJournal
from workers.rollout.environment import EpisodeLimits
from workers.rollout.episode import run_episode

LIMITS = EpisodeLimits(max_episode_steps=20, context_length=4096, max_turn_tokens=400)
NAMES = ("search", "lookup")


@dataclass
class Play:
    """One rollout against a live server."""

    writer: Writer
    server: EndpointServer
    egress: EgressClient
    limits: EpisodeLimits = LIMITS
    journal: InMemoryJournal = field(default_factory=InMemoryJournal)
    policy: ScriptedPolicy = field(default_factory=lambda: ScriptedPolicy([], ()))

    async def run(self, turns: list[list[int]], example: DatasetRow | None = None) -> Trajectory:
        self.policy = ScriptedPolicy(turns, self.writer.renderer.stop_token_ids)
        urls = dict.fromkeys(NAMES, self.server.url())
        return await run_episode(
            example or row(*NAMES),
            KEY,
            policy=self.policy,
            renderer=self.writer.renderer,
            environment=ToolEnvironment(caller(pool(self.egress, timeout_s=PATIENCE_S), urls)),
            journal=self.journal,
            limits=self.limits,
            job_seed=7,
            temperature=0.8,
        )

    def turn(self, *parts: str) -> list[int]:
        return [*self.writer.ids("\n".join(parts)), self.writer.end]


def echo(request: ReceivedRequest) -> Reply:
    call = request.json
    return Reply(json={"output": f"{call['name']} says {call['arguments']}"})


def search(q: str = "x") -> str:
    return call_text("search", json.dumps({"q": q}))


def sampled_only(values: list[Any], mask: list[int]) -> list[Any]:
    return [value for value, trained in zip(values, mask, strict=True) if trained]


def facts(trajectory: Trajectory) -> Trajectory:
    return replace(trajectory, started_at=0.0, finished_at=0.0)


def check_tokens(play: Play, trajectory: Trajectory) -> None:
    """Checks the invariants of every rollout, for any stop reason."""
    trajectory.check()
    given = play.policy.turns[: len(trajectory.turns)]
    assert [list(turn.token_ids) for turn in trajectory.turns] == [
        ids[: params.max_tokens] for ids, (_, params) in zip(given, play.policy.calls, strict=True)
    ]
    flat_ids = [token for turn in trajectory.turns for token in turn.token_ids]
    flat_logprobs = [logprob for turn in trajectory.turns for logprob in turn.logprobs]
    assert sampled_only(trajectory.tokens, trajectory.mask) == flat_ids
    assert sampled_only(trajectory.logprobs, trajectory.mask) == flat_logprobs
    assert flat_logprobs == [
        -(token + 1) / 1000 - number
        for number, turn in enumerate(trajectory.turns)
        for token in turn.token_ids
    ]
    assert all(
        logprob == 0.0
        for logprob, trained in zip(trajectory.logprobs, trajectory.mask, strict=True)
        if not trained
    )
    # Each prompt is what stands before the turn: nothing was encoded again or left out.
    for (prompt, _), turn in zip(play.policy.calls, trajectory.turns, strict=True):
        start = len(prompt)
        assert trajectory.tokens[:start] == prompt
        assert trajectory.tokens[start : start + len(turn.token_ids)] == list(turn.token_ids)
        assert trajectory.mask[start : start + len(turn.token_ids)] == [1] * len(turn.token_ids)
    assert trajectory.mask[: trajectory.prompt_tokens] == [0] * trajectory.prompt_tokens
    assert len(trajectory.tokens) <= play.limits.context_length
