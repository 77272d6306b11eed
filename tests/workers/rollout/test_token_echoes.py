"""Stored tokens show no credential that the trace does not show."""

import json
from dataclasses import asdict, dataclass

import pytest

from app.rollouts.trajectory import Grade, ScoredRollout
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.patience import PATIENCE_S
from tests.support.rollout.plays import LIMITS, search
from tests.support.rollout.policies import Writer
from tests.support.rollout.rollouts import KEY, caller, egress_to, pool, row
from workers.environments.tool_environment import ToolEnvironment
from workers.journal import InMemoryJournal
from workers.rollout.environment import SampledTurn, SamplingParams
from workers.rollout.episode import RolloutFailure, run_episode
from workers.runs.reporter import rollout_row, token_record

SECRET = "canary-4711-of-the-customer"


@dataclass
class Repeating:
    """Calls a tool, and repeats word by word what it then reads."""

    writer: Writer
    read: str = ""

    async def sample(self, prompt_token_ids: list[int], params: SamplingParams) -> SampledTurn:
        del params
        text = self.writer.renderer.decode(prompt_token_ids)
        first = "says" not in text
        self.read = "" if first else text[text.index("says") :].split("</tool_response>")[0].strip()
        ids = [*self.writer.ids(search("a") if first else self.read), self.writer.end]
        return SampledTurn(tuple(ids), tuple(-0.5 for _ in ids), "stop", 1)


async def played(writer: Writer, policy: Repeating, status: int) -> ScoredRollout:
    """Plays a rollout whose tool answers with the credential that it was sent."""

    def script(request: ReceivedRequest) -> Reply:
        said = f"says {request.headers['x-api-key']}"
        return Reply(status=status, json={"output" if status == 200 else "error": said})

    async with endpoint(script) as server:
        egress = egress_to(server)
        headers = {"X-Api-Key": SECRET}
        tools = caller(
            pool(egress, timeout_s=PATIENCE_S), {"search": server.url()}, headers=headers
        )
        try:
            trajectory = await run_episode(
                row("search"),
                KEY,
                policy=policy,
                renderer=writer.renderer,
                environment=ToolEnvironment(tools),
                journal=InMemoryJournal(),
                limits=LIMITS,
                job_seed=7,
                temperature=1.0,
            )
            return ScoredRollout(trajectory, grade=Grade(1.0))
        except RolloutFailure as error:
            return ScoredRollout(error.trajectory, failure=error.failure)
        finally:
            await egress.aclose()


@pytest.mark.parametrize("status", [200, 404])
async def test_tokens_show_of_a_reply_what_the_trace_shows(writer: Writer, status: int) -> None:
    """A tool's reply is the model's to read, and the trace has it as it was read."""
    policy = Repeating(writer)
    rollout = await played(writer, policy, status)
    stored, record = rollout_row(rollout, project_id="proj_a"), token_record(rollout)
    assert record is not None
    texts = "".join(record.turns[1].texts)
    assert texts == stored.trace["messages"][-1]["content"] == policy.read
    assert SECRET in policy.read
    assert SECRET in json.dumps(stored.trace)


async def test_a_credential_that_the_trace_hides_is_in_no_token(writer: Writer) -> None:
    policy = Repeating(writer)
    rollout = await played(writer, policy, 503)
    stored, record = rollout_row(rollout, project_id="proj_a"), token_record(rollout)
    assert record is not None
    assert stored.failure_class == "tool_error"
    assert policy.read == "", "the model reads nothing of a failure"
    assert SECRET not in json.dumps(asdict(stored))
    texts = "".join(text for turn in record.turns for text in turn.texts)
    assert texts == search("a")
    assert {ratio for turn in record.turns for ratio in turn.ratios} == {None}
