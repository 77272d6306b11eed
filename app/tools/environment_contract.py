"""A contract test of an HTTP environment: one episode of one turn, as training plays it."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from app.files.function_tools import tools_faults
from app.kit.egress import Egress, EgressReply
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner, EndpointFault
from app.kit.http import is_success
from app.kit.ids import new_id
from app.kit.redaction import Echoes
from app.kit.texts import storable
from app.tools.contracts import (
    CheckResult,
    Exchange,
    recording_egress,
    report_text,
    signature_check,
)
from app.tools.environment_calls import (
    CallRefused,
    EnvironmentCall,
    ResetAnswer,
    StepAnswer,
    assistant_message,
    begun_id,
    close_body,
    may_have_begun,
    read_close,
    read_reset,
    read_step,
    reset_body,
    step_body,
)
from app.tools.environment_options import HttpEnvironmentSpec
from app.tools.schemas import EnvironmentExchange, RunEnvironmentTest
from app.tools.tools import sample_arguments

_TEXT: Final = "This is a test."
_PROMPT: Final = ({"role": "user", "content": _TEXT},)
_SKIPPED: Final = "There was no episode to step."
_OF_EPISODES: Final = ("step", "idempotency", "close")
_Value = TypeVar("_Value")


class _UnusableReply(Exception):
    """The text is a sentence for the customer."""

    def __init__(self, message: str, *, may_have_begun: bool = False) -> None:
        super().__init__(message)
        self.may_have_begun = may_have_begun


class EnvironmentTest:
    def __init__(
        self,
        egress: Egress,
        environment: HttpEnvironmentSpec,
        plan: RunEnvironmentTest,
        *,
        secret_keys: tuple[str, ...],
        project_id: str,
        call_timeout_s: float,
    ) -> None:
        self.exchanges = list[EnvironmentExchange]()
        self._egress = recording_egress(egress, secret_keys[0], project_id)
        self._environment = environment
        self._plan = plan
        self._task = plan.task or {}
        self._signer = CallSigner(*secret_keys, project_id=project_id)
        self._call_timeout_s = call_timeout_s
        self._rollout_id = new_id("trace_")
        self._echoes = Echoes(environment.headers or {}, environment.url)

    async def run(self) -> list[CheckResult]:
        checks = await self._played()
        return [*checks, signature_check(self._egress.exchanges)]

    async def _played(self) -> list[CheckResult]:
        before = self._task.get("messages", list(_PROMPT))
        body = reset_body(self._rollout_id, self._task, seed=self._plan.seed)
        read = partial(read_reset, before=before, hidden=self._echoes.hidden_in)
        try:
            begun = await self._attempt("reset", self._call(body), read)
        except _UnusableReply as fault:
            skipped = [CheckResult(name, "skipped", _SKIPPED) for name in _OF_EPISODES]
            if fault.may_have_begun:
                skipped[-1] = await self._closed_unheard()
            return [CheckResult("reset", "failed", str(fault)), *skipped]
        return [_reset_check(begun), *await self._episode(begun)]

    async def _episode(self, begun: ResetAnswer) -> list[CheckResult]:
        calls = list(self._calls(begun))
        text = self._plan.content
        message = assistant_message("" if text is None and calls else text or _TEXT, calls)
        body = step_body(self._rollout_id, begun.episode_id, turn=0, message=message)
        step = self._call(body)
        ids = [call_id for call_id, _, _ in calls]
        read = partial(read_step, call_ids=ids, hidden=self._echoes.hidden_in)
        done = False
        try:
            first = await self._attempt("step", step, read)
            done = first.done
            checks = [_step_check(first), await self._same(first, step, read)]
        except _UnusableReply as fault:
            reason = "The step had no usable answer."
            checks = [
                CheckResult("step", "failed", str(fault)),
                CheckResult("idempotency", "skipped", reason),
            ]
        body = close_body(self._rollout_id, begun.episode_id, done=done)
        return [*checks, await self._closed(self._call(body))]

    async def _same(
        self, first: StepAnswer, step: EnvironmentCall, read: Callable[[EgressReply], StepAnswer]
    ) -> CheckResult:
        try:
            same = await self._attempt("step again", step, read) == first
        except _UnusableReply:
            same = False
        if same:
            text = "The same Idempotency-Key got the same answer."
            return CheckResult("idempotency", "passed", text)
        text = (
            "The same Idempotency-Key got another answer: after a lost connection the step is sent "
            "again, and the episode would go on from a turn that the model did not take."
        )
        return CheckResult("idempotency", "warned", text)

    async def _closed(self, call: EnvironmentCall) -> CheckResult:
        try:
            status = await self._attempt("close", call, read_close)
        except _UnusableReply as fault:
            return CheckResult("close", "warned", f"{fault} No rollout is lost for it.")
        if is_success(status):
            return CheckResult("close", "passed", "The episode was closed.")
        return CheckResult("close", "warned", f"close was answered {status}.")

    async def _closed_unheard(self) -> CheckResult:
        """Closes what a `reset` without a usable answer may have begun."""
        reply = self._egress.last_reply
        episode_id = None if reply is None else begun_id(reply)
        body = close_body(self._rollout_id, episode_id, done=False)
        return await self._closed(self._call(body))

    def _calls(self, begun: ResetAnswer) -> Iterator[tuple[str, str, str]]:
        for call in self._plan.tool_calls or ():
            yield new_id("call_"), call.name, call.arguments
        if self._plan.tool_calls is None and self._plan.content is None:
            for tool in self._offered(begun)[:1]:
                function = tool["function"]
                arguments = json.dumps(sample_arguments(function.get("parameters")))
                yield new_id("call_"), function["name"], arguments

    def _offered(self, begun: ResetAnswer) -> list[dict[str, Any]]:
        if begun.tools is not None:
            return begun.tools
        tools = self._task.get("tools") or []
        return [] if any(True for _ in tools_faults(tools, ())) else tools

    def _call(self, body: dict[str, Any]) -> EnvironmentCall:
        return EnvironmentCall(body, new_id("episode_"), self._rollout_id)

    async def _attempt(
        self, name: str, call: EnvironmentCall, read: Callable[[EgressReply], _Value]
    ) -> _Value:
        pool = EndpointPool(self._egress, timeout_s=self._call_timeout_s, max_retries=0)
        before = len(self._egress.exchanges)
        try:
            answer = await pool.endpoint(self._environment.url).call(
                call.request(self._environment.headers), read, signer=self._signer
            )
        except EndpointFault as fault:
            raise _UnusableReply(
                f"No usable answer: {fault.message}.", may_have_begun=may_have_begun(fault)
            ) from fault
        except CallRefused as refused:
            raise _UnusableReply(f"The environment {refused}.") from refused
        finally:
            await self._record(name, call, self._egress.exchanges[before:])
        return answer.value

    async def _record(self, name: str, call: EnvironmentCall, made: Sequence[Exchange]) -> None:
        reply = self._egress.last_reply if made and made[-1].failure is None else None
        # On a thread: an answer may have 1 MB, whose beginning may be a part of a credential.
        shown = partial(self._shown, name, call, reply)
        self.exchanges.append(await asyncio.to_thread(shown))

    def _shown(
        self, name: str, call: EnvironmentCall, reply: EgressReply | None
    ) -> EnvironmentExchange:
        sent = json.loads(self._echoes.hidden_in_json(json.dumps(call.body)))
        if reply is None:
            return EnvironmentExchange(
                call=name, sent=sent, status=None, answered=None, latency_ms=None
            )
        text = storable(reply.body.decode(errors="replace"))
        return EnvironmentExchange(
            call=name,
            sent=sent,
            status=reply.status,
            answered=report_text(self._echoes.hidden_in(text)),
            latency_ms=round(1000 * reply.latency_s, 1),
        )


def _reset_check(begun: ResetAnswer) -> CheckResult:
    if begun.unread:
        return _unread("reset", begun.unread)
    tools = "those of the row" if begun.tools is None else str(len(begun.tools))
    text = f"An episode with {len(begun.messages)} messages; tools: {tools}."
    return CheckResult("reset", "passed", text)


def _step_check(answer: StepAnswer) -> CheckResult:
    if answer.unread:
        return _unread("step", answer.unread)
    if answer.done and answer.reward is None:
        text = (
            "The episode ended and no step gave a reward: a job without another grader would lose "
            "the rollout."
        )
        return CheckResult("step", "warned", text)
    state = "is over" if answer.done else "continues"
    return CheckResult("step", "passed", f"The turn was answered, and the episode {state}.")


def _unread(name: str, keys: tuple[str, ...]) -> CheckResult:
    listed = ", ".join(f"`{key}`" for key in keys[:10])
    return CheckResult(name, "warned", f"Nothing reads these keys of the answer: {listed}.")
