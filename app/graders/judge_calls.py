"""Requests to judge models and their replies, in Chat Completions form."""

import asyncio
import contextlib
import json
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, assert_never

from app.graders.judge import JudgeFault, JudgeQuestion, JudgeReply
from app.jobs.response_formats import with_trained_effort
from app.kit.addresses import read_url
from app.kit.egress import EgressPolicy, EgressReply
from app.kit.egress_client import EgressClient
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner, EndpointFault, EndpointRequest, FaultKind
from app.kit.errors import RequestError, Unavailable
from app.kit.fields import chat_url
from app.kit.http import is_client_error, is_success
from app.kit.redaction import Echoes
from app.kit.replies import error_reply, wrong_reply
from app.models.chat import reported_tokens
from app.models.engine import AdapterCache, AdapterMissing, Inference
from app.models.models import TunedModel
from app.settings import EgressSettings, EmbeddingSettings, JudgeSettings

_WHOLE: Final = frozenset(
    {
        *("", "stop", "stop_sequence", "stop_token", "eos", "eos_token", "end_turn"),
        *("complete", "completed", "done", "function_call", "tool_calls"),
    }
)


class _Refused(JudgeFault):
    """A request that would be refused again, unless it is its format."""


_TEXT_PARTS: Final = ("text", "output_text")


def read_completion(content: Any, *, latency_s: float) -> JudgeReply:
    try:
        choice = content["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (LookupError, TypeError, AttributeError):
        raise EndpointFault(
            FaultKind.BAD_REPLY, "the judge's reply is not a chat completion"
        ) from None
    usage, reason = content.get("usage"), choice.get("finish_reason")
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    return JudgeReply(
        text=_text_of(text),
        refusal=refusal if isinstance(refusal, str) and refusal else None,
        prompt_tokens=reported_tokens(usage, "prompt_tokens"),
        completion_tokens=reported_tokens(usage, "completion_tokens"),
        cached_tokens=reported_tokens(details, "cached_tokens"),
        latency_s=latency_s,
        is_cut_off=isinstance(reason, str) and reason.lower() not in _WHOLE,
    )


def _text_of(content: Any) -> str:
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = (part for part in content if isinstance(part, dict))
    texts = (part.get("text") for part in parts if part.get("type", "text") in _TEXT_PARTS)
    return "".join(text for text in texts if isinstance(text, str))


def read_reply(reply: EgressReply) -> JudgeReply | EgressReply:
    if is_client_error(reply.status):
        return reply
    content = None
    if is_success(reply.status):
        with contextlib.suppress(ValueError, RecursionError):
            content = json.loads(reply.body)
    try:
        return read_completion(content, latency_s=reply.latency_s)
    except EndpointFault:
        raise wrong_reply(reply, "a message in", "choices") from None


def read_operators_reply(reply: EgressReply) -> JudgeReply | EgressReply:
    """Quotes nothing of the operator's own server to a customer."""
    try:
        return read_reply(reply)
    except EndpointFault as fault:
        fault.quoted = ""
        raise


_FIRST_WAIT_S: Final = 0.2
_LONGEST_WAIT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class EngineModel:
    name: str
    engine_name: str
    object_key: str | None
    reasoning_effort: str | None = None

    @classmethod
    def of_tuned(cls, model: TunedModel) -> "EngineModel":
        return cls(model.name, model.engine_name, model.object_key, model.reasoning_effort)


@dataclass(frozen=True, slots=True)
class EngineModels:
    inference: Inference
    adapters: AdapterCache
    find: Callable[[str], Awaitable[EngineModel | None]]


def build_judge_egress(
    judges: Iterable[JudgeSettings],
    egress: EgressSettings,
    *,
    embeddings: EmbeddingSettings | None = None,
) -> EgressClient:
    urls = [judge.base_url for judge in judges]
    urls += [] if embeddings is None else [embeddings.base_url]
    allowed = frozenset(read_url(chat_url(url)).key for url in urls)
    policy = EgressPolicy(allow_endpoints=allowed, allow_plain_http=True)
    return EgressClient(policy, max_body_bytes=egress.max_body_bytes)


class RoutedJudges:
    def __init__(
        self,
        engine: EngineModels,
        *,
        configured: tuple[JudgeSettings, ...],
        configured_endpoints: EndpointPool,
        endpoints: EndpointPool,
        signer: CallSigner,
    ) -> None:
        """`endpoints` are the customer's; their `timeout_s` also limits calls to the engine."""
        self._engine = engine
        self._configured = {model: judge for judge in configured for model in judge.models}
        self._configured_endpoints = configured_endpoints
        self._endpoints = endpoints
        self._signer = signer

    async def knows(self, model: str) -> bool:
        return model in self._configured or await self._engine.find(model) is not None

    async def ask(self, question: JudgeQuestion) -> JudgeReply:
        try:
            return await self._ask(question)
        except _Refused:
            if question.response_format is None:
                raise
        return await self._ask(replace(question, response_format=None))

    def code(self, call_id: str) -> str:
        return self._signer.code(call_id)

    async def _ask(self, question: JudgeQuestion) -> JudgeReply:
        if question.base_url is not None:
            return await self._post(self._endpoints, question.base_url, question, question.headers)
        judge = self._configured.get(question.model)
        if judge is not None:
            key = judge.api_key.get_secret_value()
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            return await self._post(self._configured_endpoints, judge.base_url, question, headers)
        model = await self._engine.find(question.model)
        if model is None:
            raise JudgeFault(FaultKind.ERROR, f"the model '{question.model}' does not exist")
        body = with_trained_effort(question.body(model.engine_name), model.reasoning_effort)
        return await self._chat(model, body)

    async def _post(
        self,
        endpoints: EndpointPool,
        base_url: str,
        question: JudgeQuestion,
        headers: Mapping[str, str],
    ) -> JudgeReply:
        body, is_operators = question.body(question.model), endpoints is not self._endpoints
        request = EndpointRequest(
            headers=headers,
            body=await asyncio.to_thread(lambda: json.dumps(body, separators=(",", ":")).encode()),
            call_id=question.call_id,
            trace_id=question.trace_id,
        )
        try:
            answer = await endpoints.endpoint(chat_url(base_url)).call(
                request,
                read_operators_reply if is_operators else read_reply,
                signer=self._signer,
            )
        except EndpointFault as fault:
            raise JudgeFault(fault.kind, fault.message) from fault
        match answer.value:
            case JudgeReply() as reply:
                # On a thread: a reply may be long, and other calls wait for this loop.
                return await asyncio.to_thread(_without_echoes, reply, headers, base_url)
            case EgressReply() as refusal:
                refused = error_reply(refusal)
                refused.quoted = "" if is_operators else refused.quoted
                refused.hide(Echoes(headers, base_url).hidden_in)
                raise _Refused(refused.kind, refused.message) from refused
            case _:
                assert_never(answer.value)

    async def _chat(self, model: EngineModel, body: dict[str, Any]) -> JudgeReply:
        """Calls the engine: loads a missing adapter, and retries until the deadline."""
        clock, attempt = self._endpoints.clock, 0
        deadline = clock.now() + self._endpoints.timeout_s
        while True:
            attempt += 1
            try:
                left_s = deadline - clock.now()
                return await self._chat_once(model, body, remaining_s=left_s)
            except (Unavailable, EndpointFault) as error:
                wait_s = random.random() * min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0**attempt)
                if clock.now() + wait_s >= deadline:
                    raise JudgeFault(FaultKind.UNREACHABLE, "the engine is unavailable") from error
            await clock.sleep(wait_s)

    async def _chat_once(
        self, model: EngineModel, body: dict[str, Any], *, remaining_s: float
    ) -> JudgeReply:
        started = time.perf_counter()
        inference = self._engine.inference
        try:
            async with asyncio.timeout(max(0.001, remaining_s)):
                try:
                    content = await inference.chat(body)
                except AdapterMissing:
                    await self._engine.adapters.load(
                        inference, model.engine_name, object_key=model.object_key
                    )
                    content = await inference.chat(body)
        except AdapterMissing as error:  # the engine restarted, or another load is in progress
            raise Unavailable("The model cannot be served at the moment.") from error
        except TimeoutError:
            raise JudgeFault(FaultKind.TIMEOUT, "no answer in time") from None
        except Unavailable:
            raise
        except RequestError as error:
            message = error.message.replace(model.engine_name, model.name)
            raise _Refused(FaultKind.ERROR, f"the engine refused: {message}") from error
        return read_completion(content, latency_s=time.perf_counter() - started)


def _without_echoes(reply: JudgeReply, headers: Mapping[str, str], url: str) -> JudgeReply:
    echoes = Echoes(headers, url)
    refusal = None if reply.refusal is None else echoes.hidden_in(reply.refusal)
    return replace(reply, text=echoes.hidden_in(reply.text), refusal=refusal)
