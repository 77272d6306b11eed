"""Plays one episode of a scripted policy, and checks its tokens."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from app.files.conversations import engine_messages
from app.files.datasets import DatasetRow
from app.kit.egress_client import EgressClient
from app.rollouts.renderer import Renderer
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
    example: DatasetRow = field(default_factory=lambda: row(*NAMES))

    async def run(self, turns: list[list[int]], example: DatasetRow | None = None) -> Trajectory:
        self.policy = ScriptedPolicy(turns, self.writer.renderer.stop_token_ids)
        self.example = example or row(*NAMES)
        urls = dict.fromkeys(NAMES, self.server.url())
        return await run_episode(
            self.example,
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


def check_rows(trajectory: Trajectory) -> None:
    """Each sampled token is in one row, with its log-prob; nothing around it is trained."""
    for one in trajectory.rows:
        one.check()
        assert {v for v, m in zip(one.logprobs, one.mask, strict=True) if not m} <= {0.0}
    for number, one in enumerate(trajectory.rows):
        turns = [turn for turn in trajectory.turns if turn.row == number]
        ids = [token for turn in turns for token in turn.token_ids]
        assert sampled_only(one.tokens, one.mask) == ids
        logprobs = [logprob for turn in turns for logprob in turn.logprobs]
        assert sampled_only(one.logprobs, one.mask) == logprobs
    prompt = trajectory.prompt_tokens
    assert trajectory.rows[0].mask[:prompt] == [0] * prompt


def check_tokens(play: Play, trajectory: Trajectory) -> None:
    """Checks the invariants of every rollout, for any stop reason."""
    check_rows(trajectory)
    given = play.policy.turns[: len(trajectory.turns)]
    assert [list(turn.token_ids) for turn in trajectory.turns] == [
        ids[: params.max_tokens] for ids, (_, params) in zip(given, play.policy.calls, strict=True)
    ]
    assert [logprob for turn in trajectory.turns for logprob in turn.logprobs] == [
        -(token + 1) / 1000 - number
        for number, turn in enumerate(trajectory.turns)
        for token in turn.token_ids
    ]
    check_contexts(play.writer.renderer, trajectory, play.example.tools)
    for (prompt, _), turn in zip(play.policy.calls, trajectory.turns, strict=True):
        assert trajectory.rows[turn.row].tokens[: len(prompt)] == prompt
    assert max(len(one.tokens) for one in trajectory.rows) <= play.limits.context_length


def check_contexts(renderer: Renderer, trajectory: Trajectory, tools: list[dict[str, Any]]) -> None:
    """Before each turn stands what a chat renders of the messages before it, token for token."""
    written = [i for i, m in enumerate(trajectory.messages) if m["role"] == "assistant"]
    starts = written[len(written) - len(trajectory.turns) :]
    for turn, start in zip(trajectory.turns, starts, strict=True):
        context = renderer.prompt_ids(engine_messages(trajectory.messages[:start]), tools)
        ids, one = [*context, *turn.token_ids], trajectory.rows[turn.row]
        assert one.tokens[: len(ids)] == ids
        assert one.mask[len(context) : len(ids)] == [1] * len(turn.token_ids)
