"""A worker that is killed between an answer and its entry in the journal, at every such place."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from typing_extensions import override

from app.rollouts.trajectory import Trajectory
from tests.support.endpoints import EndpointServer, endpoint
from tests.support.patience import PATIENCE_S
from tests.support.rollout.plays import LIMITS, NAMES, echo, search
from tests.support.rollout.policies import Writer, call_text
from tests.support.rollout.rollouts import KEY, caller, egress_to, pool, row
from workers.environments.tool_environment import ToolEnvironment
from workers.journal import InMemoryJournal
from workers.rollout.environment import SampledTurn, SamplingParams
from workers.rollout.episode import run_episode

SEED = 7
TEXTS = (
    "\n".join((search("a"), call_text("lookup", '{"q": "b"}'))),
    search("c"),
    "It is 42.",
)


class Killed(BaseException):
    """The process is gone: nothing of this run happens any more."""


@dataclass
class KilledJournal(InMemoryJournal):
    """Ends the process before an entry is written; what is written already stays."""

    entries: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    before: int = -1
    """The entries that come before the kill; -1: no kill."""

    @override
    async def put(self, key: str, request_sha256: str, payload: dict[str, Any]) -> None:
        if len(self.entries) == self.before:
            raise Killed
        await super().put(key, request_sha256, payload)


@dataclass(frozen=True)
class Sampler:
    writer: Writer

    async def sample(self, _prompt: list[int], params: SamplingParams) -> SampledTurn:
        [text] = [text for turn, text in enumerate(TEXTS) if params.seed == KEY.seed(SEED, turn)]
        ids = (*self.writer.ids(text), self.writer.end)
        return SampledTurn(ids, tuple(-(each + 1) / 1000 for each in ids), "stop", 1)


async def played(writer: Writer, server: EndpointServer, journal: KilledJournal) -> Trajectory:
    egress = egress_to(server)
    tools = caller(pool(egress, timeout_s=PATIENCE_S), dict.fromkeys(NAMES, server.url()))
    try:
        return await run_episode(
            row(*NAMES),
            KEY,
            policy=Sampler(writer),
            renderer=writer.renderer,
            environment=ToolEnvironment(tools),
            journal=journal,
            limits=LIMITS,
            job_seed=SEED,
            temperature=0.8,
        )
    finally:
        await egress.aclose()


def learned(trajectory: Trajectory) -> tuple[Any, ...]:
    turns = [(turn.token_ids, turn.logprobs) for turn in trajectory.turns]
    return turns, trajectory.messages, trajectory.stop_reason


async def test_the_call_whose_answer_was_lost_is_sent_again_under_its_id(writer: Writer) -> None:
    async with endpoint(echo) as server:
        quiet_journal = KilledJournal()
        quiet = await played(writer, server, quiet_journal)
        assert len(quiet_journal.entries) == 6
        ids = {each.headers["idempotency-key"] for each in server.received}
        assert len(ids) == len(server.received) == 3
        repeated = 0
        for before in range(len(quiet_journal.entries)):
            server.received.clear()
            journal = KilledJournal(before=before)
            with pytest.raises(Killed):
                await played(writer, server, journal)
            journal.before = -1
            resumed = await played(writer, server, journal)
            assert learned(resumed) == learned(quiet), before
            sent = [each.headers["idempotency-key"] for each in server.received]
            assert set(sent) == ids
            repeated += len(sent) - len(ids)
    assert 3 <= repeated <= 4, "two calls of a turn may be lost together"
