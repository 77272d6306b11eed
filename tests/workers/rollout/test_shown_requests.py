"""The requests on a rollout's page are those that the customer's endpoints received."""

import json
import re
import shlex
from functools import partial
from html import unescape
from typing import Any

from app.database import Database
from app.files.datasets import parse_rows
from app.graders.judge import JudgeReply
from app.graders.scorer import GradingPorts
from app.jobs.claims import job_claims
from app.jobs.reinforcement import ReinforcementMethod
from app.kit.endpoints import CallSigner
from app.kit.ids import GroupKey
from tests.support import stack
from tests.support.api.application import running
from tests.support.api.job_calls import JOBS
from tests.support.dashboard.visits import visiting
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply, endpoint
from tests.support.grading.judges import InMemoryJudges
from tests.support.rollout.policies import ScriptedPolicy, Writer, call_text
from tests.support.rollout.rollouts import SECRET_KEY, egress_to, pool, schema
from tests.support.sandbox.in_memory import InMemorySandbox
from tests.support.store.claims import claim_row
from workers.environments.tool_environment import HttpTools, ToolEnvironment
from workers.grading.job_grader import build_group_scorer
from workers.journal import InMemoryJournal
from workers.rollout.environment import EpisodeLimits
from workers.rollout.episode import RolloutSetup, RolloutSlots, ScoredGroup, run_group
from workers.runs.reporter import rollout_row

SECRET = "of the customer"
ROWS = [
    {
        "messages": [{"role": "user", "content": f"Where does river {n} spring? ü €"}],
        "tools": [schema("search", q="string")],
        "n": n,
    }
    for n in range(12)
]
CONTENT = (
    b"\xef\xbb\xbf" + "\n\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS).encode()
)
INDEX = 3
TURNS = (
    call_text("search", '{"q": "it\'s \\u00fc <&> $(ls)"}') + call_text("nowhere", '{"q": "x"}'),
    call_text("search", '{"q": "again"}') + call_text("search", '{"q": 5}'),
    "In the Alps, «ü».",
)


def customer(request: ReceivedRequest) -> Reply:
    sent = request.json
    if sent.get("type") == "function_call":
        output = {"type": "function_call_output", "id": sent["id"], "call_id": sent["call_id"]}
        return Reply(json={**output, "output": f"found {sent['arguments']} €"})
    return Reply(json={"score": 0.5, "metrics": {"style": 0.25}})


def method_at(server: EndpointServer) -> dict[str, Any]:
    def child(name: str) -> dict[str, Any]:
        return {"type": "endpoint", "name": name, "url": server.url("/grade"), "headers": headers}

    headers = {"X-Key": SECRET}
    tool = {"name": "search", "server_url": server.url("/search"), "headers": headers}
    return {
        "tools": [tool],
        "grader": {
            "type": "multi",
            "name": "both",
            "graders": {"first": child("first"), "second": child("second")},
            "calculate_output": "(first + second) / 2",
        },
    }


async def played(method: ReinforcementMethod, server: EndpointServer, job_id: str) -> ScoredGroup:
    """Plays one rollout of the row with the parts of a run; the policy alone is a script."""
    writer, signer = Writer(), CallSigner(SECRET_KEY, project_id="proj_a")
    egress = egress_to(server)
    endpoints = pool(egress)
    judges = InMemoryJudges(lambda _: JudgeReply(""))
    setup = RolloutSetup(
        renderer=writer.renderer,
        new_environment=partial(ToolEnvironment, HttpTools(endpoints, signer, method.tools)),
        scorer=build_group_scorer(
            method.grader, GradingPorts(endpoints, signer, judges, InMemorySandbox())
        ),
        limits=EpisodeLimits(max_episode_steps=8, context_length=4096, max_turn_tokens=512),
        job_seed=1,
        temperature=1.0,
        slots=RolloutSlots(1),
    )
    turns = [[*writer.ids(text), writer.end] for text in TURNS]
    row = parse_rows([json.dumps(one).encode() for one in ROWS], {"search"}, 100)[INDEX]
    try:
        return await run_group(
            setup,
            row,
            GroupKey(job_id, "train", 2, INDEX).samples(1),
            policy=ScriptedPolicy(turns, (writer.end,)),
            journal=InMemoryJournal(),
        )
    finally:
        await egress.aclose()


async def stored(database: stack.Database, job_id: str, group: ScoredGroup) -> str:
    """Stores the rollout as a claim of the job does, and returns its id."""
    worker = Database(database.worker_url, pool_size=1)
    try:
        lease = await claim_row(job_claims(worker), job_id)
        assert lease is not None
        (rollout,) = group.rollouts
        assert rollout.failure is None
        row = rollout_row(rollout, project_id=lease.project_id)
        async with worker.run(lease.project_id, job_id, lease.fence) as unit:
            await unit.rollouts.insert_many(job_id, [row])
        return row.id
    finally:
        await worker.dispose()


async def test_the_requests_of_a_page_are_those_that_were_received(
    database: stack.Database,
) -> None:
    async with endpoint(customer) as server, running(database, server.host_port) as api:
        method = method_at(server)
        files = [(await api.upload(CONTENT)).json()["id"] for _ in range(2)]
        body = {
            "model": "tiny-agent",
            "training_file": files[0],
            "validation_file": files[1],
            "method": {"type": "reinforcement", "reinforcement": method},
        }
        made = await api.call("POST", JOBS, json=body)
        assert made.status_code == 200, made.text
        job_id = made.json()["id"]
        before = len(server.received)
        group = await played(ReinforcementMethod.model_validate(method), server, job_id)
        received = server.received[before:]
        rollout_id = await stored(database, job_id, group)
        async with visiting(api.http) as visit:
            await visit.sign_in(api.key)
            page = (await visit.get(f"/jobs/{job_id}/rollouts/{rollout_id}")).text
        shown = [Shown(unescape(text)) for text in commands_of(page)]
        assert len(shown) == len(received) == 4  # two calls, and a grader with two children
        assert SECRET not in page
        by_call = {request.headers["idempotency-key"]: request for request in received}
        assert len(by_call) == 4
        for one in shown:
            sent = by_call.pop(one.headers["Idempotency-Key"])
            assert one.url == server.url(sent.path)
            assert one.headers.pop("X-Key") == "[redacted]"
            assert sent.headers["x-key"] == SECRET
            assert {n: sent.headers[n.lower()] for n in one.headers} == one.headers
            if sent.path == "/search":
                assert one.body.encode() == sent.body
            else:
                assert with_stored_times(json.loads(one.body)) == with_stored_times(sent.json)


class Shown:
    """A request that a page shows as a command, read as a shell does."""

    def __init__(self, command: str) -> None:
        program, self.url, *rest = [one for one in shlex.split(command) if one != "\n"]
        assert program == "curl"
        options = list(zip(rest[::2], rest[1::2], strict=True))
        self.headers = dict(value.split(": ", 1) for name, value in options if name == "-H")
        (self.body,) = [value for name, value in options if name == "--data-raw"]


def commands_of(page: str) -> list[str]:
    return re.findall(r'class="command".*?>(.*?)</pre>', page, re.DOTALL)


def with_stored_times(body: dict[str, Any]) -> dict[str, Any]:
    """Rounds the times of calls as they are stored."""
    calls = body["sample"]["tool_calls"]
    assert [call["error"] for call in calls] == [None, "unknown_tool", None, "bad_arguments"]
    for call in calls:
        call["latency_s"] = round(call["latency_s"] or 0.0, 4)
    return body
