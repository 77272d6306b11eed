"""The customer's own grader over HTTP, in the hosted Agent RFT shape.

Owns its request `{sample, item, trace_id}` and its reply `{"score": …}`. Promises: any failure, a
4xx included, and any score that is not a finite number is infrastructure. Numbers named in
`metrics` become components of the grade. Must not know tokens.
"""

import json
import math
import re
from dataclasses import asdict
from typing import Any, Final

from app.domain.dataset import DatasetRow
from app.domain.graders import EndpointGrader
from app.domain.ids import SampleKey
from app.domain.trajectory import Failure, FailureClass, Grade, Trajectory
from app.gateways.egress import EgressReply
from app.gateways.endpoints import EndpointFault, EndpointPool, EndpointRequest, FaultKind
from app.gateways.signing import CallSigner
from workers.grading.failure import GraderFailure
from workers.rollout.journal import Journal
from workers.rollout.memory import remembered

_MAX_COMPONENTS: Final = 32
_COMPONENT: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_CLASSES: Final = {
    FaultKind.ERROR: FailureClass.GRADER_ERROR,
    FaultKind.TIMEOUT: FailureClass.GRADER_TIMEOUT,
    FaultKind.UNREACHABLE: FailureClass.GRADER_UNREACHABLE,
    FaultKind.BAD_REPLY: FailureClass.GRADER_BAD_REPLY,
    FaultKind.TOO_LARGE: FailureClass.GRADER_BAD_REPLY,
    FaultKind.REFUSED: FailureClass.ENDPOINT_REFUSED,
}


class EndpointGrading:
    """Implements `workers.grading.registry.Grader`."""

    def __init__(self, spec: EndpointGrader, endpoints: EndpointPool, signer: CallSigner) -> None:
        self._name = spec.name
        self._headers = spec.headers or {}
        self._endpoint = endpoints.endpoint(spec.url, rate_limit=spec.rate_limit)
        self._signer = signer

    async def grade(
        self, trajectory: Trajectory, row: DatasetRow, key: SampleKey, *, journal: Journal
    ) -> Grade:
        request = EndpointRequest(
            headers=self._headers,
            body=_body(trajectory, row, key),
            call_id=key.grade_id(self._name),
            trace_id=key.trace_id,
        )

        async def ask() -> dict[str, Any]:
            return asdict(await self._ask(request))

        return Grade(**await remembered(journal, request.call_id, request.body, ask))

    async def _ask(self, request: EndpointRequest) -> Grade:
        try:
            answer = await self._endpoint.call(request, _read, signer=self._signer)
        except EndpointFault as fault:
            failure = Failure(_CLASSES[fault.kind], fault.message, source=self._name)
            raise GraderFailure(failure) from fault
        score, components = answer.value
        return Grade(score, components, answer.latency_s)


def _body(trajectory: Trajectory, row: DatasetRow, key: SampleKey) -> bytes:
    request = {
        "sample": sample_object(trajectory),
        "item": item_object(row),
        "trace_id": key.trace_id,
    }
    return json.dumps(request, separators=(",", ":")).encode()


def sample_object(trajectory: Trajectory) -> dict[str, Any]:
    """The final turn, as the hosted API shows it to graders; empty when nothing was sampled.

    `output_json` is the answer as JSON where it is an object or a list.
    """
    message = _last_turn(trajectory)
    text, calls = message.get("content") or "", message.get("tool_calls") or []
    reason = trajectory.turns[-1].finish_reason if trajectory.turns else "length"
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, "tool_calls": calls},
        "finish_reason": "tool_calls" if calls else reason,
    }
    return {
        "choices": [choice],
        "output_text": text,
        "output_json": _as_json(text),
        "output_tools": calls,
        "output_reasoning_summary": message.get("reasoning_content"),
    }


def item_object(row: DatasetRow) -> dict[str, Any]:
    """The whole row, with the keys graders rely on always there."""
    messages = [
        message if "name" in message else {"name": None, **message} for message in row.messages
    ]
    extras = {key: value for key, value in row.item.items() if key not in {"messages", "tools"}}
    return {
        "messages": messages,
        "tools": row.item.get("tools"),
        "parallel_tool_calls": True,
        **extras,
    }


def _last_turn(trajectory: Trajectory) -> dict[str, Any]:
    if not trajectory.turns:
        return {}
    return [message for message in trajectory.messages if message["role"] == "assistant"][-1]


def _as_json(text: str) -> Any:
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _read(reply: EgressReply) -> tuple[float, dict[str, float]]:
    if not 200 <= reply.status < 300:  # noqa: PLR2004 - HTTP's own
        kind = FaultKind.ERROR if reply.status >= 400 else FaultKind.BAD_REPLY  # noqa: PLR2004
        raise EndpointFault(kind, f"answered {reply.status}", status=reply.status)
    try:
        content = json.loads(reply.body)
    except (ValueError, RecursionError):
        content = None
    score = _number(content.get("score")) if isinstance(content, dict) else None
    if score is None:
        raise EndpointFault(FaultKind.BAD_REPLY, "the reply has no finite number `score`")
    return score, _components(content.get("metrics"))


def _components(metrics: Any) -> dict[str, float]:
    """Well-named finite numbers, the first 32 of them; anything else is ignored."""
    components: dict[str, float] = {}
    for name, value in metrics.items() if isinstance(metrics, dict) else ():
        number = _number(value)
        if number is not None and _COMPONENT.fullmatch(name) and len(components) < _MAX_COMPONENTS:
            components[name] = number
    return components


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
