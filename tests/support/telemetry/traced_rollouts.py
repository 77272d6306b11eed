"""A rollout whose tool fails once and whose grader answers, over real sockets, to be traced."""

from dataclasses import replace

from app.graders.kinds.remote import EndpointGrader
from app.kit.endpoint_pool import EndpointPool
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply
from tests.support.grading.scores import ports_of
from tests.support.rollout.plays import LIMITS, search
from tests.support.rollout.policies import ScriptedPolicy, Writer
from tests.support.rollout.rollouts import KEY, caller, egress_to, pool, row
from workers.environments.tool_environment import ToolEnvironment
from workers.grading.job_grader import JobGrader, PerSampleScorer
from workers.journal import InMemoryJournal
from workers.rollout.episode import RolloutSetup, RolloutSlots, run_group

SECRETS = ("the-customers-question", "the-models-argument", "the-tools-answer", "the-header")
SPANS_OF_ONE = 8
"""A rollout, two turns, a call of the tool with two attempts, and one of the grader with one."""


class Customer:
    """A tool that fails once before it answers, and a grader, at one address."""

    def __init__(self) -> None:
        self.failed = False

    def __call__(self, request: ReceivedRequest) -> Reply:
        if request.path == "/grade":
            return Reply(json={"score": 0.5})
        if not self.failed:
            self.failed = True
            return Reply(503, {"output": SECRETS[2]})
        return Reply(json={"output": SECRETS[2]})


def setup_of(server: EndpointServer, endpoints: EndpointPool, writer: Writer) -> RolloutSetup:
    spec = EndpointGrader(
        type="endpoint", name="g", url=server.url("/grade"), headers={"X-Key": SECRETS[3]}
    )
    ports = replace(ports_of(), endpoints=endpoints)
    grader = JobGrader("g", spec.scorer(ports, source="g"), journalled=True)
    urls = {"search": server.url("/tool")}
    return RolloutSetup(
        renderer=writer.renderer,
        new_environment=lambda: ToolEnvironment(caller(endpoints, urls)),
        scorer=PerSampleScorer(grader),
        limits=LIMITS,
        job_seed=7,
        temperature=0.8,
        slots=RolloutSlots(1),
    )


async def play_traced(server: EndpointServer, journal: InMemoryJournal) -> None:
    writer, egress = Writer(), egress_to(server)
    setup = setup_of(server, pool(egress), writer)
    turns = [
        [*writer.ids(search(SECRETS[1])), writer.end],
        [*writer.ids("It is that."), writer.end],
    ]
    try:
        await run_group(
            setup,
            row("search", question=SECRETS[0]),
            [KEY],
            policy=ScriptedPolicy(turns, writer.renderer.stop_token_ids),
            journal=journal,
        )
    finally:
        await egress.aclose()
