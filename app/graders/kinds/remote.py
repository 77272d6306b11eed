"""Scores over HTTP: the customer's own grader, and the rewards of the job's environment."""

import json
import math
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from app.graders.grader_model import GraderModel
from app.graders.scorer import (
    NO_REWARD,
    GradeRequest,
    GraderErrors,
    GradingPorts,
    ScoreFault,
    Scorer,
    ScoreResult,
    finite,
    run_on_scoring_thread,
)
from app.graders.texts import LocalScorer
from app.kit.egress import EgressReply
from app.kit.endpoints import EndpointFault, EndpointRequest, FaultKind
from app.kit.fields import CustomerUrl, SecretHeaders
from app.kit.http import is_success
from app.kit.redaction import Echoes
from app.kit.replies import wrong_reply
from app.rollouts.trajectory import MAX_COMPONENTS, is_component_name
from app.tools.tools import RateLimit


class EndpointGrader(GraderModel):
    """The customer's own HTTP grader: POST `{sample, item, trace_id}`, reply `{"score": …}`."""

    type: Literal["endpoint"]
    url: CustomerUrl
    """Address that samples are sent to."""
    name: str = Field(default="endpoint", min_length=1, max_length=256)
    headers: SecretHeaders | None = None
    """Headers sent with every request; stored encrypted, shown as `[redacted]`."""
    rate_limit: RateLimit | None = None
    """Requests per second this job may send to it."""
    pass_threshold: float | None = Field(default=None, strict=True)
    reads_beside_templates: ClassVar[bool] = True

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return EndpointScorer(self, ports, source=source)


class EndpointScorer:
    def __init__(self, spec: EndpointGrader, ports: GradingPorts, *, source: str) -> None:
        self._source = source
        self._headers = spec.headers or {}
        self._url = spec.url
        self._endpoint = ports.endpoints.endpoint(spec.url, rate_limit=spec.rate_limit)
        self._signer = ports.signer

    async def score(self, request: GradeRequest) -> ScoreResult:
        call = EndpointRequest(
            headers=self._headers,
            body=await run_on_scoring_thread(partial(encode, request)),
            call_id=request.call_id,
            trace_id=request.trace_id,
        )
        try:
            answer = await self._endpoint.call(call, self._read, signer=self._signer)
        except EndpointFault as fault:
            kind = FaultKind.BAD_REPLY if fault.kind is FaultKind.TOO_LARGE else fault.kind
            errors = GraderErrors(other_error=True, details=fault.message)
            raise ScoreFault(
                kind.value, fault.message, source=self._source, errors=errors
            ) from fault
        score, components = answer.value
        return ScoreResult(score, sub_scores=components, execution_time_s=answer.latency_s)

    def _read(self, reply: EgressReply) -> tuple[float, dict[str, float]]:
        """Drops names that repeat a credential of the request. Raises `EndpointFault`."""
        score, components = read_score(reply)
        if not components:
            return score, components
        hidden = Echoes(self._headers, self._url).hidden_in
        return score, {name: part for name, part in components.items() if hidden(name) == name}


def encode(request: GradeRequest) -> bytes:
    body = {"sample": request.sample, "item": request.item, "trace_id": request.trace_id}
    return json.dumps(body, separators=(",", ":")).encode()


def read_score(reply: EgressReply) -> tuple[float, dict[str, float]]:
    score, content = None, None
    if is_success(reply.status):
        with suppress(ValueError, RecursionError):
            content = json.loads(reply.body)
    if isinstance(content, dict):
        score = finite(content.get("score"))
    if score is None or not isinstance(content, dict):
        raise wrong_reply(reply, "a finite number", "score")
    return score, _components(content.get("metrics"))


def _components(metrics: Any) -> dict[str, float]:
    components: dict[str, float] = {}
    for name, value in metrics.items() if isinstance(metrics, dict) else ():
        number = finite(value)
        if number is not None and is_component_name(name) and len(components) < MAX_COMPONENTS:
            components[name] = number
    return components


class EnvironmentGrader(GraderModel):
    """The sum of the rewards that the job's HTTP environment gave in a rollout's steps."""

    needs_environment: ClassVar[bool] = True
    reads_beside_templates: ClassVar[bool] = True

    type: Literal["environment"]
    name: str = Field(default="environment", min_length=1, max_length=256)

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return LocalScorer(partial(_rewarded, source))


def _rewarded(source: str, request: GradeRequest) -> ScoreResult:
    found = request.sample.get("environment")
    found = found if isinstance(found, dict) else {}
    reward = _number(found.get("reward"))
    if reward is None:
        message = "the sample has no reward of an environment"
        if found.get("done") is True:
            message = "the environment ended the episode and gave no reward in any step"
        errors = GraderErrors(sample_parse_error=True, details=message)
        raise ScoreFault(NO_REWARD, message, source=source, errors=errors)
    sent = found.get("components")
    components = {
        str(name): number
        for name, value in (sent.items() if isinstance(sent, dict) else ())
        if (number := _number(value)) is not None
    }
    return ScoreResult(reward, sub_scores=components)


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:  # an integer of over 308 digits, which the bound of scores refuses
        return math.inf
