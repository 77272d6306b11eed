"""512 rollouts at once, each of ten calls, against an engine and a tool on real sockets."""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from functools import partial

import pytest
from aiohttp import web

from app.files.datasets import DatasetRow
from app.kit.ids import GroupKey, SampleKey
from app.models.engine_http import HttpInference
from app.rollouts.trajectory import Grade, Trajectory
from tests.support.endpoints import ReceivedRequest, Reply, endpoint_in_thread
from tests.support.patience import PATIENCE_S
from tests.support.rollout.plays import search
from tests.support.rollout.policies import Writer
from tests.support.rollout.rollouts import caller, egress_to, pool, row
from tests.support.web.web_server import running_app
from workers.engines.policy import EnginePolicy
from workers.environments.tool_environment import ToolEnvironment
from workers.grading.job_grader import PerSampleScorer
from workers.journal import InMemoryJournal, Journal
from workers.rollout.environment import EpisodeLimits
from workers.rollout.episode import RolloutSetup, RolloutSlots, run_group

GROUPS, SIZE, CALLS, SEED = 64, 8, 10, 11
ROLLOUTS = GROUPS * SIZE
KEYS = [GroupKey("ftjob-1", "train", 1, prompt).samples(SIZE) for prompt in range(GROUPS)]


@dataclass
class CallingEngine:
    """Answers each turn by its seed: ten calls, then an answer. The first turns wait for all."""

    writer: Writer
    turns: dict[int, tuple[SampleKey, int]]
    asked: Counter[int] = field(default_factory=Counter)
    together: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, request: web.Request) -> web.Response:
        seed = (await request.json())["seed"]
        key, turn = self.turns[seed]
        self.asked[turn] += 1
        if self.asked[0] == ROLLOUTS:
            self.together.set()
        await self.together.wait()
        word = f"{key.prompt_index}-{key.sample_index}-{turn}"
        ids = [*self.writer.ids(search(word) if turn < CALLS else word), self.writer.end]
        logprobs = {"token_logprobs": [-0.5] * len(ids)}
        choice = {"index": 0, "text": "", "token_ids": ids, "finish_reason": "stop"}
        return web.json_response({"choices": [choice | {"logprobs": logprobs}]})

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/{path:.*}", self.complete)
        return app


class HeardGrader:
    """Scores a rollout by the share of its calls whose answers it heard."""

    async def grade(
        self, trajectory: Trajectory, row: DatasetRow, key: SampleKey, *, journal: Journal
    ) -> Grade:
        del row, journal
        heard = [f"heard {key.prompt_index}-{key.sample_index}-{turn}" for turn in range(CALLS)]
        said = [call.output for call in trajectory.tool_calls]
        return Grade(sum(a == b for a, b in zip(heard, said, strict=True)) / CALLS)


@pytest.mark.long
async def test_a_burst_loses_no_rollout_and_sends_no_call_twice(writer: Writer) -> None:
    async def tool(request: ReceivedRequest) -> Reply:
        await asyncio.sleep(0.05)
        return Reply(json={"output": f"heard {json.loads(request.json['arguments'])['q']}"})

    keys = [key for group in KEYS for key in group]
    seeds = {key.seed(SEED, turn): (key, turn) for key in keys for turn in range(CALLS + 1)}
    assert len(seeds) == ROLLOUTS * (CALLS + 1)
    engine = CallingEngine(writer, seeds)
    with endpoint_in_thread(tool) as server, running_app(engine.application) as url:
        inference, egress = HttpInference(url, timeout_s=PATIENCE_S), egress_to(server)
        endpoints = pool(egress, timeout_s=PATIENCE_S)
        setup = RolloutSetup(
            renderer=writer.renderer,
            new_environment=partial(ToolEnvironment, caller(endpoints, {"search": server.url()})),
            scorer=PerSampleScorer(HeardGrader()),
            limits=EpisodeLimits(
                max_episode_steps=2 * CALLS + 1, context_length=4096, max_turn_tokens=200
            ),
            job_seed=SEED,
            temperature=1.0,
            slots=RolloutSlots(ROLLOUTS),
        )
        try:
            policy, journal = EnginePolicy(inference, base_model="m"), InMemoryJournal()
            groups = await asyncio.gather(
                *(
                    run_group(setup, row("search"), group, policy=policy, journal=journal)
                    for group in KEYS
                )
            )
        finally:
            await inference.aclose()
            await egress.aclose()
    rewards = Counter(reward for group in groups for reward in group.rewards)
    assert rewards == {1.0: ROLLOUTS}
    assert engine.asked == dict.fromkeys(range(CALLS + 1), ROLLOUTS)
    sent = Counter(each.headers["idempotency-key"] for each in server.received)
    assert (len(sent), set(sent.values())) == (ROLLOUTS * CALLS, {1})
