"""Answers chats: marks broken tool calls, meters usage, and stores completions on request."""

import asyncio
import json
import weakref
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any, Final
from uuid import uuid4

from app.database import Database
from app.files.conversations import (
    BROKEN_CALL,
    broken_call,
    check_conversation,
    engine_messages,
    instructed,
)
from app.files.shape_faults import invalid_value
from app.jobs.response_formats import with_trained_effort
from app.kit.callers import Tenant
from app.kit.errors import RequestError, Unavailable
from app.kit.fields import Json
from app.kit.slots import ProjectSlots
from app.kit.texts import Redaction, redacted_in
from app.models.chat import (
    CONTEXT_LENGTH_EXCEEDED,
    StoredCompletion,
    StreamedReply,
    asks_to_store,
    check_messages,
    check_pairs,
    check_stored,
    completion_of,
    new_completion_id,
)
from app.models.chat_parameters import check_parameters, engine_options
from app.models.chat_usage import ChatUsage
from app.models.engine import AdapterCache, AdapterMissing, Inference
from app.models.models import STUDENT_TEMPERATURE, StudentVersion, ToolParser
from app.models.service import CallableModel, ModelService
from app.rollouts.chat_template import UNSEEN
from app.rollouts.renderer import tool_use
from app.rollouts.turns import call_fault


class StoredCompletionService:
    def __init__(self, database: Database, tenant: Tenant, *, redaction: Redaction) -> None:
        """`redaction` is applied to every text of a call and its reply before it is stored."""
        self._database = database
        self._tenant = tenant
        self._redaction = redaction

    async def check(self, body: Mapping[str, Any]) -> None:
        check_stored(body)
        size = len(json.dumps([body["messages"], body.get("tools")]))
        async with self._database.tenant(self._tenant) as unit:
            await unit.quotas.check_bytes(size)

    async def keep(self, body: Mapping[str, Any], reply: Json) -> None:
        whole = completion_of(body, reply)
        texts = {"messages": whole.messages, "tools": whole.tools, "reply": whole.reply["choices"]}
        safe = redacted_in(texts, self._redaction)
        kept = replace(
            whole,
            metadata=redacted_in(whole.metadata, self._redaction),
            messages=safe["messages"],
            tools=safe["tools"],
            reply={**whole.reply, "choices": safe["reply"]},
        )
        size = len(json.dumps([kept.messages, kept.tools, kept.reply]))
        async with self._database.tenant(self._tenant) as unit:
            await unit.quotas.check_bytes(size)
            await unit.stored_completions.insert(kept, size=size)

    async def get(self, completion_id: str) -> StoredCompletion:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.stored_completions.get(completion_id)

    async def page(
        self,
        *,
        after: str | None,
        limit: int,
        descending: bool,
        model: str | None,
        metadata: dict[str, str] | None,
    ) -> tuple[list[StoredCompletion], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.stored_completions.page(
                after=after, limit=limit, descending=descending, model=model, metadata=metadata
            )

    async def label(self, completion_id: str, metadata: dict[str, str] | None) -> StoredCompletion:
        check_pairs(metadata or {})
        safe = redacted_in(metadata or None, self._redaction)
        async with self._database.tenant(self._tenant) as unit:
            await unit.stored_completions.set_metadata(completion_id, safe)
            return await unit.stored_completions.get(completion_id)

    async def delete(self, completion_id: str) -> None:
        async with self._database.tenant(self._tenant) as unit:
            await unit.stored_completions.delete(completion_id)


_DATA: Final = b"data: "
_END: Final = b"\n\n"
_DONE: Final = b"data: [DONE]"


def offers_tools(body: Json) -> bool:
    return bool(body.get("tools")) and body.get("tool_choice") != "none"


def mark_reply(reply: Json, parser: ToolParser) -> None:
    for choice in reply.get("choices") or ():
        message = choice.get("message") or {}
        called = bool(message.get("tool_calls"))
        mark = _mark(parser, message.get("content"), called, choice.get("finish_reason"))
        if mark is not None:
            message[BROKEN_CALL] = mark


class StreamMarker:
    def __init__(self, parser: ToolParser) -> None:
        self._parser = parser
        self._content: dict[int, str] = defaultdict(str)
        self._called: set[int] = set()

    def feed(self, event: bytes) -> bytes:
        chunk = _chunk_of(event)
        marked = [self._feed_choice(choice) for choice in chunk.get("choices") or ()]
        return _DATA + json.dumps(chunk).encode() if any(marked) else event

    def _feed_choice(self, choice: Json) -> bool:
        index, delta = choice.get("index", 0), choice.get("delta") or {}
        self._content[index] += delta.get("content") or ""
        if delta.get("tool_calls"):
            self._called.add(index)
        called = index in self._called
        mark = _mark(self._parser, self._content[index], called, choice.get("finish_reason"))
        if mark is not None:
            choice["delta"] = {**delta, BROKEN_CALL: mark}
        return mark is not None


def _mark(parser: ToolParser, content: Any, called: bool, finish_reason: str | None) -> Json | None:
    if called or finish_reason != "stop" or not isinstance(content, str):
        return None
    fault = call_fault(content, parser)
    if fault is None:
        return None
    return broken_call(fault, tool_call_id=f"call_{uuid4().hex[:24]}")


def _chunk_of(event: bytes) -> Json:
    if not event.startswith(_DATA):
        return {}
    try:
        chunk = json.loads(event.removeprefix(_DATA))
    except ValueError:
        return {}
    return chunk if isinstance(chunk, dict) else {}


def with_usage(body: dict[str, Any]) -> dict[str, Any]:
    options = body.get("stream_options") or {}
    return {**body, "stream_options": {**options, "include_usage": True}}


async def metered_events(
    events: AsyncIterator[bytes], *, shown: bool, note: Callable[[dict[str, Any]], None]
) -> AsyncIterator[bytes]:
    """Yields the events, and gives `note` the usage once; after a break the number of events."""
    answered, usage = 0, None
    try:
        async for chunk in events:  # one event, or all of a stream that came at once
            kept: list[bytes] = []
            for event in chunk.split(_END):
                reported = _usage(event)
                if reported is None:
                    answered += event.startswith(_DATA + b"{")
                else:
                    usage = reported
                if reported is None or shown:
                    kept.append(event)
            if left := _END.join(kept):
                yield left
    finally:
        note({"completion_tokens": answered} if usage is None else usage)


def _usage(event: bytes) -> dict[str, Any] | None:
    chunk = _chunk_of(event) if b'"usage"' in event else {}
    usage = chunk.get("usage") if chunk.get("choices") == [] else None
    return usage if isinstance(usage, dict) else None


def error_event(error: RequestError) -> bytes:
    body = {"message": error.message, "type": error.type, "param": error.param, "code": error.code}
    return _DATA + json.dumps({"error": body}).encode() + _END


async def recorded_events(
    events: AsyncIterator[bytes], *, completion_id: str, keep: Callable[[Json], Awaitable[None]]
) -> AsyncIterator[bytes]:
    """Yields the events with the stored id. If `keep` fails, the stream ends with its error."""
    recorder = _Recorder(completion_id)
    async for chunk in events:  # one event, or all of a stream that came at once
        named = _END.join([recorder.feed(event) for event in chunk.split(_END)])
        if recorder.ended:
            try:
                await keep(recorder.reply.whole())
            except RequestError as error:
                yield error_event(error)
                return
        yield named


class _Recorder:
    def __init__(self, completion_id: str) -> None:
        self.reply = StreamedReply()
        self.ended = False
        self._completion_id = completion_id

    def feed(self, event: bytes) -> bytes:
        if event.strip() == _DONE:
            self.ended = True
        if not event.startswith(_DATA + b"{"):
            return event
        part = json.loads(event.removeprefix(_DATA))
        if "error" in part:
            return event
        part["id"] = self._completion_id
        self.reply.add(part)
        return _DATA + json.dumps(part).encode()


class ChatCompletionService:
    def __init__(
        self,
        models: ModelService,
        inference: Inference,
        adapters: AdapterCache,
        *,
        slots: ProjectSlots,
        usage: ChatUsage,
        stored: StoredCompletionService,
        tenant: Tenant,
    ) -> None:
        self._models = models
        self._inference = inference
        self._adapters = adapters
        self._slots = slots
        self._usage = usage
        self._stored = stored
        self._tenant = tenant

    async def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        model, body, forwarded = await self._prepare(body)
        with self._slots.taken(self._tenant.project_id):
            try:
                try:
                    reply = await self._inference.chat(forwarded)
                except AdapterMissing:
                    await self._load(model)
                    reply = await self._inference.chat(forwarded)
            except RequestError as error:
                raise _in_tenants_words(error, model) from error
        usage = reply.get("usage")
        self._usage.add(self._tenant, model.name, usage if isinstance(usage, dict) else {})
        if offers_tools(body):
            mark_reply(reply, await _parser_of(model))
        shown = {**reply, "model": model.name}
        if asks_to_store(body):
            shown["id"] = new_completion_id()
            await self._stored.keep(body, shown)
        return shown

    async def chat_stream(self, body: dict[str, Any]) -> AsyncIterator[bytes]:
        """Yields events. The first is awaited before, so that errors still have a status."""
        model, body, prepared = await self._prepare(body)
        forwarded = with_usage(prepared)
        parser = await _parser_of(model)
        with ExitStack() as stack:
            stack.enter_context(self._slots.taken(self._tenant.project_id))
            try:
                try:
                    first, rest = await self._open(forwarded)
                except AdapterMissing:
                    await self._load(model)
                    first, rest = await self._open(forwarded)
            except RequestError as error:
                raise _in_tenants_words(error, model) from error
            slot = stack.pop_all()
        events = _renamed(first, rest, model)
        if offers_tools(body):
            events = _marked(events, parser)
        if asks_to_store(body):
            events = recorded_events(
                events, completion_id=new_completion_id(), keep=partial(self._stored.keep, body)
            )
        shown = bool((prepared.get("stream_options") or {}).get("include_usage"))
        note = partial(self._usage.add, self._tenant, model.name)
        events = metered_events(events, shown=shown, note=note)
        chunks = _holding(slot, events)
        # A stream that its client never begins to read has no end of its own.
        weakref.finalize(chunks, slot.close)
        return chunks

    async def _prepare(self, body: Json) -> tuple[CallableModel, Json, Json]:
        """Returns the model, the call as a student understands it, and the call of the engine."""
        check_parameters(body)
        model = await self._models.answering(body["model"])
        if model.context_length is not None:
            check_messages(body["messages"], model.context_length)
        check_conversation(body["messages"])
        body = _as_student(body, model.version)
        if asks_to_store(body):
            await self._stored.check(body)
        sent = {**engine_options(body), "messages": engine_messages(body["messages"])}
        forwarded = {**await _safe(sent, model), "model": model.engine_name}
        return model, body, with_trained_effort(forwarded, model.reasoning_effort)

    async def _open(self, body: dict[str, Any]) -> tuple[bytes, AsyncIterator[bytes]]:
        chunks = self._inference.chat_stream(body)
        return await anext(chunks, b""), chunks

    async def _load(self, model: CallableModel) -> None:
        await self._adapters.load(self._inference, model.engine_name, object_key=model.object_key)


def _as_student(body: Json, version: StudentVersion | None) -> Json:
    if version is None:
        return body
    sent = body.get("temperature")
    return {
        **body,
        "messages": instructed(body["messages"], version.instructions),
        "temperature": STUDENT_TEMPERATURE if sent is None else sent,
    }


def chat_slots(limit: int) -> ProjectSlots:
    return ProjectSlots(limit, noun="chat completions")


async def _parser_of(model: CallableModel) -> ToolParser:
    if model.base is None:
        return "hermes"
    return (await asyncio.to_thread(tool_use, model.base)).parser


async def _safe(body: dict[str, Any], model: CallableModel) -> dict[str, Any]:
    """Removes text that forges turns, as training does: vLLM would take it for a real turn. Raises
    `InvalidRequest` for a message that the model would not read.
    """
    if model.base is None:
        return body
    use = await asyncio.to_thread(tool_use, model.base)
    if use.control_text is None or use.template is None:
        return body
    messages = [use.control_text.within(each) for each in body["messages"]]
    tools = use.control_text.tools(body.get("tools"))
    unseen = await asyncio.to_thread(use.template.unseen, messages, tools)
    if unseen:
        raise invalid_value(("messages", unseen[0]), UNSEEN)
    safe = {**body, "messages": messages}
    return {**safe, "tools": tools} if body.get("tools") else safe


async def _holding(slot: ExitStack, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    with slot:
        async for chunk in chunks:
            yield chunk


def _in_tenants_words(error: RequestError, model: CallableModel) -> RequestError:
    """Returns the error without the engine's name; a missing listed model is our fault."""
    if isinstance(error, AdapterMissing):
        return Unavailable(f"The model '{model.name}' cannot be served at the moment.")
    message = error.message.replace(model.engine_name, model.name)
    param = "messages" if error.code == CONTEXT_LENGTH_EXCEEDED else error.param
    return type(error)(message, param=param, code=error.code)


async def _renamed(
    first: bytes, rest: AsyncIterator[bytes], model: CallableModel
) -> AsyncIterator[bytes]:
    """Yields whole events with the tenant's name for the model; a break is an error event."""
    old, new = json.dumps(model.engine_name).encode(), json.dumps(model.name).encode()
    pending = b""
    try:
        async for chunk in _chained(first, rest):
            *events, pending = (pending + chunk).split(_END)
            for event in events:
                yield event.replace(old, new) + _END
    except RequestError as error:
        yield error_event(_in_tenants_words(error, model))
        return
    if pending:
        yield pending.replace(old, new)


async def _chained(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk


async def _marked(events: AsyncIterator[bytes], parser: ToolParser) -> AsyncIterator[bytes]:
    marker = StreamMarker(parser)
    async for chunk in events:
        yield _END.join(map(marker.feed, chunk.split(_END)))
