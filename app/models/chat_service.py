"""Marks chat replies in which the model wrote a tool call that cannot be parsed.

Engines return such a call as plain content; training answers it with a sentence and continues. The
field contains that sentence, so that a client can play the episode that was trained:
`docs/tool-loop.md`.
"""

import asyncio
import json
import weakref
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, Final
from uuid import uuid4

from app.files.conversations import BROKEN_CALL, check_conversation, engine_messages
from app.jobs.response_formats import with_trained_effort
from app.kit.callers import Tenant
from app.kit.errors import RequestError, Unavailable
from app.kit.fields import Json
from app.kit.slots import ProjectSlots
from app.models.chat import StreamedReply, asks_to_store, new_completion_id
from app.models.chat_parameters import check_parameters, engine_options
from app.models.chat_usage import ChatUsage
from app.models.completion_service import StoredCompletionService
from app.models.context_size import CONTEXT_LENGTH_EXCEEDED, check_messages
from app.models.engine import AdapterCache, AdapterMissing, Inference
from app.models.models import ToolParser
from app.models.service import CallableModel, ModelService
from app.rollouts.renderer import tool_use
from app.rollouts.turns import call_fault

_TYPE: Final = "unparsable_tool_call"
_DATA: Final = b"data: "


def offers_tools(body: Json) -> bool:
    """Returns whether the answer to this body may contain tool calls."""
    return bool(body.get("tools")) and body.get("tool_choice") != "none"


def mark_reply(reply: Json, parser: ToolParser) -> None:
    """Marks each message of a whole reply to a body that offers tools. `parser` is the model's."""
    for choice in reply.get("choices") or ():
        message = choice.get("message") or {}
        called = bool(message.get("tool_calls"))
        mark = _mark(parser, message.get("content"), called, choice.get("finish_reason"))
        if mark is not None:
            message[BROKEN_CALL] = mark


class StreamMarker:
    """Marks the last delta of each choice of a stream, event by event."""

    def __init__(self, parser: ToolParser) -> None:
        self._parser = parser
        self._content: dict[int, str] = defaultdict(str)
        self._called: set[int] = set()

    def feed(self, event: bytes) -> bytes:
        """Returns the event, marked if it ends a choice with a broken call."""
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
    """Returns the mark of a broken call; `None` for a turn that needs none: calls, an answer, a cut
    text.
    """
    if called or finish_reason != "stop" or not isinstance(content, str):
        return None
    fault = call_fault(content, parser)
    if fault is None:
        return None
    return {"type": _TYPE, "message": fault, "tool_call_id": f"call_{uuid4().hex[:24]}"}


def _chunk_of(event: bytes) -> Json:
    """Returns the chunk of an event, empty for `[DONE]` and for comments."""
    if not event.startswith(_DATA):
        return {}
    try:
        chunk = json.loads(event.removeprefix(_DATA))
    except ValueError:
        return {}
    return chunk if isinstance(chunk, dict) else {}


_DATA_STREAMS: Final = b"data: "
_END: Final = b"\n\n"


def with_usage(body: dict[str, Any]) -> dict[str, Any]:
    """Returns the call of a stream with the option that makes the engine report its usage."""
    options = body.get("stream_options") or {}
    return {**body, "stream_options": {**options, "include_usage": True}}


def asks_for_usage(body: dict[str, Any]) -> bool:
    return bool((body.get("stream_options") or {}).get("include_usage"))


async def metered_events(
    events: AsyncIterator[bytes], *, shown: bool, note: Callable[[dict[str, Any]], None]
) -> AsyncIterator[bytes]:
    """Yields the events, and gives `note` the usage once. If the stream breaks off or its client
    goes, the usage is the number of events with an answer, which is about that of its tokens.
    """
    answered, usage = 0, None
    try:
        async for chunk in events:  # one event, or all of a stream that came at once
            kept: list[bytes] = []
            for event in chunk.split(_END):
                reported = _usage(event)
                if reported is None:
                    answered += event.startswith(_DATA_STREAMS + b"{")
                else:
                    usage = reported
                if reported is None or shown:
                    kept.append(event)
            if left := _END.join(kept):
                yield left
    finally:
        note({"completion_tokens": answered} if usage is None else usage)


def _usage(event: bytes) -> dict[str, Any] | None:
    """Returns the usage of the last chunk; `None` for any other event."""
    if b'"usage"' not in event or not event.startswith(_DATA_STREAMS):
        return None
    try:
        chunk = json.loads(event.removeprefix(_DATA_STREAMS))
    except ValueError:
        return None
    is_last = isinstance(chunk, dict) and chunk.get("choices") == []
    usage = chunk.get("usage") if is_last else None
    return usage if isinstance(usage, dict) else None


_DATA_RECORDED_STREAMS: Final = b"data: "
_END_STREAMS: Final = b"\n\n"
_DONE: Final = b"data: [DONE]"


def error_event(error: RequestError) -> bytes:
    """Returns the event of a stream that ends with a fault."""
    body = {
        "message": error.message,
        "type": error.type,
        "param": error.param,
        "code": error.code,
    }
    return _DATA_RECORDED_STREAMS + json.dumps({"error": body}).encode() + _END_STREAMS


async def recorded_events(
    events: AsyncIterator[bytes], *, completion_id: str, keep: Callable[[Json], Awaitable[None]]
) -> AsyncIterator[bytes]:
    """Yields the events with the id of the stored completion, and gives `keep` the whole reply
    before the last one. If `keep` fails, the stream ends with its error, because a client must not
    mistake the answer for a stored one.
    """
    recorder = _Recorder(completion_id)
    async for chunk in events:  # one event, or all of a stream that came at once
        named = _END_STREAMS.join([recorder.feed(event) for event in chunk.split(_END_STREAMS)])
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
        """Adds an event to the reply. Returns it with the id of the stored completion."""
        if event.strip() == _DONE:
            self.ended = True
        if not event.startswith(_DATA_RECORDED_STREAMS + b"{"):
            return event
        part = json.loads(event.removeprefix(_DATA_RECORDED_STREAMS))
        if "error" in part:
            return event
        part["id"] = self._completion_id
        self.reply.add(part)
        return _DATA_RECORDED_STREAMS + json.dumps(part).encode()


_EVENT_END: Final = b"\n\n"


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
        """`slots` and `usage` are shared by the process."""
        self._models = models
        self._inference = inference
        self._adapters = adapters
        self._slots = slots
        self._usage = usage
        self._stored = stored
        self._tenant = tenant
        self._project_id = tenant.project_id

    async def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        model, forwarded = await self._prepare(body)
        with self._slots.taken(self._project_id):
            try:
                try:
                    reply = await self._inference.chat(forwarded)
                except AdapterMissing:
                    await self._load(model)
                    reply = await self._inference.chat(forwarded)
            except RequestError as error:
                raise _in_tenants_words(error, model) from error
        self._note(model, usage if isinstance(usage := reply.get("usage"), dict) else {})
        if offers_tools(body):
            mark_reply(reply, await _parser_of(model))
        shown = {**reply, "model": model.name}
        if asks_to_store(body):
            shown["id"] = new_completion_id()
            await self._stored.keep(body, shown)
        return shown

    async def chat_stream(self, body: dict[str, Any]) -> AsyncIterator[bytes]:
        """Yields server-sent events. The first chunk is awaited first, so that errors still have a
        status.
        """
        model, prepared = await self._prepare(body)
        forwarded = with_usage(prepared)
        parser = await _parser_of(model)
        with ExitStack() as stack:
            stack.enter_context(self._slots.taken(self._project_id))
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
        events = metered_events(
            events,
            shown=asks_for_usage(prepared),
            note=lambda usage: self._note(model, usage),
        )
        chunks = _holding(slot, events)
        # A stream that its client never begins to read has no end of its own.
        weakref.finalize(chunks, slot.close)
        return chunks

    async def _prepare(self, body: dict[str, Any]) -> tuple[CallableModel, dict[str, Any]]:
        check_parameters(body)
        if asks_to_store(body):
            await self._stored.check(body)
        model = await self._models.answering(body["model"])
        if model.context_length is not None:
            check_messages(body["messages"], model.context_length)
        check_conversation(body["messages"])
        sent = {**engine_options(body), "messages": engine_messages(body["messages"])}
        forwarded = {**await _safe(sent, model), "model": model.engine_name}
        return model, with_trained_effort(forwarded, model.reasoning_effort)

    def _note(self, model: CallableModel, usage: dict[str, Any]) -> None:
        self._usage.add(self._tenant, model.name, usage)

    async def _open(self, body: dict[str, Any]) -> tuple[bytes, AsyncIterator[bytes]]:
        chunks = self._inference.chat_stream(body)
        return await anext(chunks, b""), chunks

    async def _load(self, model: CallableModel) -> None:
        await self._adapters.load(self._inference, model.engine_name, object_key=model.object_key)


def chat_slots(limit: int) -> ProjectSlots:
    return ProjectSlots(limit, noun="chat completions")


async def _parser_of(model: CallableModel) -> ToolParser:
    """Returns the parser of the model's tool calls; finding it may read the model's files."""
    if model.base is None:
        return "hermes"
    return (await asyncio.to_thread(tool_use, model.base)).parser


async def _safe(body: dict[str, Any], model: CallableModel) -> dict[str, Any]:
    """Returns a request whose messages and tools have no text that forges turns, as training
    renders them. The CPU engine does this itself; vLLM would treat such text as a real turn.
    """
    if model.base is None:
        return body
    control_text = (await asyncio.to_thread(tool_use, model.base)).control_text
    if control_text is None:
        return body
    safe = {**body, "messages": [control_text.within(each) for each in body["messages"]]}
    return {**safe, "tools": control_text.tools(body["tools"])} if body.get("tools") else safe


async def _holding(slot: ExitStack, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yields the chunks, and releases the slot at their end."""
    with slot:
        async for chunk in chunks:
            yield chunk


def _in_tenants_words(error: RequestError, model: CallableModel) -> RequestError:
    """Returns the error without the engine's name; a listed model that the engine lacks is an
    internal fault.
    """
    if isinstance(error, AdapterMissing):
        return Unavailable(f"The model '{model.name}' cannot be served at the moment.")
    message = error.message.replace(model.engine_name, model.name)
    param = "messages" if error.code == CONTEXT_LENGTH_EXCEEDED else error.param
    return type(error)(message, param=param, code=error.code)


async def _renamed(
    first: bytes, rest: AsyncIterator[bytes], model: CallableModel
) -> AsyncIterator[bytes]:
    """Yields whole events, with the engine's name for the model replaced by the tenant's.

    A broken stream ends with an error event, as in the hosted API: a client must not mistake a part
    for the whole.
    """
    old, new = json.dumps(model.engine_name).encode(), json.dumps(model.name).encode()
    pending = b""
    try:
        async for chunk in _chained(first, rest):
            *events, pending = (pending + chunk).split(_EVENT_END)
            for event in events:
                yield event.replace(old, new) + _EVENT_END
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
    """Yields the events of a stream with broken tool calls marked."""
    marker = StreamMarker(parser)
    async for chunk in events:
        whole = [marker.feed(event) for event in chunk.split(_EVENT_END)]
        yield _EVENT_END.join(whole)
