"""Chat completions: maps a tenant's model name to the engine's and loads the adapter.

The adapter and its path come from the tenant's own row, never from the caller. Promises that no
reply or error contains the engine's name of a model; that a tuned model gets the reasoning effort
it was trained with unless the call names another; that no text of a message forges a turn; and that
a body which violates the rules of `app.domain.chat` never reaches an engine.
"""

import asyncio
import json
import weakref
from collections.abc import AsyncIterator
from contextlib import ExitStack
from functools import partial
from typing import Any, Final

from app.domain.accounts.tenants import Tenant
from app.domain.chat.conversation import check_conversation, engine_messages
from app.domain.chat.parameters import check_parameters, engine_options
from app.domain.chat.stored_completions import asks_to_store, new_completion_id
from app.domain.errors import RequestError, Unavailable
from app.domain.methods.reasoning_efforts import with_trained_effort
from app.domain.models.context_size import CONTEXT_LENGTH_EXCEEDED, check_messages
from app.domain.models.tool_parsers import ToolParser
from app.gateways.inference.adapters import AdapterCache
from app.gateways.inference.inference import AdapterMissing, Inference
from app.rendering.tool_use import tool_use
from app.services.models.broken_calls import (
    StreamMarker,
    mark_reply,
    offers_tools,
)
from app.services.models.chat_usage import ChatUsage
from app.services.models.metered_streams import asks_for_usage, metered_events, with_usage
from app.services.models.models import CallableModel, ModelService
from app.services.models.recorded_streams import error_event, recorded_events
from app.services.models.stored_completions import StoredCompletionService
from app.slots.project_slots import ProjectSlots

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
