"""A contract test of an HTTP environment: one episode of one turn over the path that training uses.

Owns which calls are made and how each answer is rated. Promises: four calls at most, no retries
that would hide a fault, and a report whatever the environment does. Must not know rollouts.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, TypeVar

from standardwebhooks import Webhook

from app.domain.environments.contract import EnvironmentPlan, Exchange
from app.domain.environments.http import HttpEnvironment
from app.domain.ids import new_id
from app.domain.storable_text import storable
from app.domain.tools.contract import Check
from app.domain.tools.sample_arguments import sample_arguments
from app.gateways.egress.egress import Egress, EgressReply
from app.gateways.endpoints.environment_calls import (
    EnvironmentCall,
    Refusal,
    ResetAnswer,
    StepAnswer,
    assistant_message,
    close_body,
    read_close,
    read_reset,
    read_step,
    reset_body,
    step_body,
)
from app.gateways.endpoints.pool import EndpointFault, EndpointPool
from app.gateways.endpoints.signing import CallSigner, signing_secret
from app.services.registry.tool_contract import RecordingEgress

_SHOWN: Final = 2_000
_TEXT: Final = "This is a test."
_PROMPT: Final = ({"role": "user", "content": _TEXT},)
"""The messages of a test whose task has none."""
_SKIPPED: Final = "There was no episode to step."
_Value = TypeVar("_Value")


class EnvironmentTest:
    """One test of one environment."""

    def __init__(
        self,
        egress: Egress,
        environment: HttpEnvironment,
        plan: EnvironmentPlan,
        *,
        secret_keys: tuple[str, ...],
        project_id: str,
        call_timeout_s: float,
    ) -> None:
        self.exchanges = list[Exchange]()
        self._egress = RecordingEgress(egress, Webhook(signing_secret(secret_keys[0], project_id)))
        self._environment = environment
        self._plan = plan
        self._signer = CallSigner(*secret_keys, project_id=project_id)
        self._call_timeout_s = call_timeout_s
        self._rollout_id = new_id("trace_")

    async def run(self) -> list[Check]:
        """Returns every check, those that could not be made as `skipped`."""
        before = self._plan.task.get("messages") or list(_PROMPT)
        body = reset_body(self._rollout_id, self._plan.task, seed=self._plan.seed)
        begun = await self._ask("reset", self._call(body), partial(read_reset, before=before))
        checks = [_rated("reset", begun, _reset_check)]
        match begun:
            case ResetAnswer():
                checks += await self._episode(begun)
            case _:
                checks += [Check(name, "skipped", _SKIPPED) for name in ("step", "idempotency")]
                checks += [Check("close", "skipped", _SKIPPED)]
        return [*checks, self._signature()]

    async def _episode(self, begun: ResetAnswer) -> list[Check]:
        calls = list(self._calls(begun))
        text = self._plan.content
        message = assistant_message("" if text is None and calls else text or _TEXT, calls)
        body = step_body(self._rollout_id, begun.episode_id, turn=0, message=message)
        step = self._call(body)
        read = partial(read_step, call_ids=[call_id for call_id, _, _ in calls])
        first = await self._ask("step", step, read)
        checks = [_rated("step", first, _step_check)]
        if isinstance(first, StepAnswer):
            checks.append(_same_check(first, await self._ask("step again", step, read)))
        else:
            checks.append(Check("idempotency", "skipped", "The step had no usable answer."))
        done = isinstance(first, StepAnswer) and first.done
        body = close_body(self._rollout_id, begun.episode_id, done=done)
        closed = await self._ask("close", self._call(body), read_close)
        return [*checks, _close_check(closed)]

    def _calls(self, begun: ResetAnswer) -> Iterator[tuple[str, str, str]]:
        """Yields id, name and arguments of the turn's calls."""
        sent = self._plan.tool_calls
        if sent is None:
            offered = [tool["function"] for tool in begun.tools or ()]
            sent = tuple(
                (tool["name"], json.dumps(sample_arguments(tool.get("parameters"))))
                for tool in offered[: 1 if self._plan.content is None else 0]
            )
        for name, arguments in sent:
            yield new_id("call_"), name, arguments

    def _call(self, body: dict[str, Any]) -> EnvironmentCall:
        return EnvironmentCall(body, new_id("episode_"), self._rollout_id)

    async def _ask(
        self, name: str, call: EnvironmentCall, read: Callable[[EgressReply], _Value]
    ) -> _Value | EndpointFault:
        """Makes one attempt of a call and records it. A breaker of its own spoils no later one."""
        pool = EndpointPool(self._egress, timeout_s=self._call_timeout_s, max_retries=0)
        before = len(self._egress.exchanges)
        result: _Value | EndpointFault
        try:
            answer = await pool.endpoint(self._environment.url).call(
                call.request(self._environment.headers), read, signer=self._signer
            )
            result = answer.value
        except EndpointFault as fault:
            result = fault
        made = self._egress.exchanges[before:]
        reply = self._egress.last_reply if made and made[-1].failure is None else None
        self.exchanges.append(
            Exchange(
                call=name,
                sent=dict(call.body),
                status=None if reply is None else reply.status,
                answered=None if reply is None else _text_of(reply.body),
                latency_ms=None if reply is None else round(1000 * reply.latency_s, 1),
            )
        )
        return result

    def _signature(self) -> Check:
        """Verifies the signature of the sent bytes as the customer would."""
        sent = self._egress.exchanges
        if not sent:
            return Check("signature", "skipped", "Nothing was sent.")
        if not all(exchange.signed for exchange in sent):
            return Check("signature", "failed", "A request's signature does not verify.")
        text = "Every request was signed; GET /v1/signing_secret has the secret to verify with."
        return Check("signature", "passed", text)


def _text_of(body: bytes) -> str:
    text = storable(body[: 4 * _SHOWN].decode(errors="replace"))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _rated(name: str, result: Any, rate: Callable[[Any], Check]) -> Check:
    """Rates a usable answer; any other fails the check with its reason."""
    match result:
        case EndpointFault() as fault:
            return Check(name, "failed", f"No usable answer: {fault.message}.")
        case Refusal() as refusal:
            return Check(name, "failed", f"The environment {refusal.message}.")
        case _:
            return rate(result)


def _reset_check(begun: ResetAnswer) -> Check:
    if begun.unread:
        return _unread("reset", begun.unread)
    tools = "those of the row" if begun.tools is None else str(len(begun.tools))
    text = f"An episode with {len(begun.messages)} messages; tools: {tools}."
    return Check("reset", "passed", text)


def _step_check(answer: StepAnswer) -> Check:
    if answer.unread:
        return _unread("step", answer.unread)
    if answer.done and answer.reward is None:
        text = (
            "The episode ended and no step gave a reward: a job without another grader would lose "
            "the rollout."
        )
        return Check("step", "warned", text)
    return Check("step", "passed", "The turn was answered, and the episode " + _state(answer))


def _state(answer: StepAnswer) -> str:
    return "is over." if answer.done else "goes on."


def _unread(name: str, keys: tuple[str, ...]) -> Check:
    listed = ", ".join(f"`{key[:80]}`" for key in keys[:10])
    return Check(name, "warned", f"Nothing reads these keys of the answer: {listed}.")


def _same_check(first: StepAnswer, again: StepAnswer | Refusal | EndpointFault) -> Check:
    if again == first:
        text = "The same Idempotency-Key got the same answer."
        return Check("idempotency", "passed", text)
    text = (
        "The same Idempotency-Key got another answer: after a lost connection the step is sent "
        "again, and the episode would go on from a turn that the model did not take."
    )
    return Check("idempotency", "warned", text)


def _close_check(closed: int | EndpointFault) -> Check:
    match closed:
        case EndpointFault() as fault:
            text = f"No answer to close: {fault.message}. Rollouts are not lost for it."
            return Check("close", "warned", text)
        case status if 200 <= status < 300:  # noqa: PLR2004 - success
            return Check("close", "passed", "The episode was closed.")
        case status:
            return Check("close", "warned", f"close was answered {status}.")
