"""Scores one sample by a grader's definition, as every caller builds its scorer."""

from typing import Any

from app.graders.definitions import read_grader
from app.graders.embeddings import Embeddings, NoEmbeddings
from app.graders.judge import JudgeReply
from app.graders.scorer import GradeRequest, GradingPorts, ScoreResult, build_scorer, text_sample
from app.kit.egress import EgressPolicy
from app.kit.egress_client import EgressClient
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner
from app.tools.sandbox import Sandbox
from tests.support.grading.judges import InMemoryJudges
from tests.support.rollout.rollouts import SECRET_KEY
from tests.support.sandbox.in_memory import InMemorySandbox


async def scored(
    grader: dict[str, Any],
    text: str = "",
    *,
    item: dict[str, Any] | None = None,
    sample: dict[str, Any] | None = None,
    judges: InMemoryJudges | None = None,
    sandbox: Sandbox | None = None,
    embeddings: Embeddings | None = None,
) -> ScoreResult:
    """Raises `ScoreFault`. A grader that calls an endpoint is refused by the egress guard."""
    egress = EgressClient(EgressPolicy(), max_body_bytes=1)
    ports = ports_of(judges, egress, sandbox, embeddings)
    scorer = build_scorer(read_grader(grader), ports)
    request = GradeRequest(text_sample(text, sample), item or {}, "trace_1", "grade_1")
    try:
        return await scorer.score(request)
    finally:
        await egress.aclose()


def ports_of(
    judges: InMemoryJudges | None = None,
    egress: EgressClient | None = None,
    sandbox: Sandbox | None = None,
    embeddings: Embeddings | None = None,
) -> GradingPorts:
    egress = egress or EgressClient(EgressPolicy(), max_body_bytes=1)
    return GradingPorts(
        EndpointPool(egress, timeout_s=1.0, max_retries=0),
        CallSigner(SECRET_KEY, project_id="proj_a"),
        judges or InMemoryJudges(lambda _: JudgeReply("")),
        sandbox or InMemorySandbox(),
        embeddings or NoEmbeddings(),
    )
