"""The pages of models: the list, and the playground."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, Self, assert_never, cast

from fastapi import APIRouter, Request, Response
from pydantic import TypeAdapter

from app.files.conversations import BROKEN_CALL, instructed
from app.http.requests import LONGEST_TEXT, text_of, unless_client_hangs_up
from app.kit.downloads import ClosingResponse
from app.kit.errors import InvalidRequest, RequestError
from app.kit.fields import Json
from app.models.chat import StreamedReply
from app.models.models import STUDENT_PREFIX
from app.pages.rendering import HEADERS, LONG_CUT_AT
from app.pages.visitors import OwnForm, PageRoute, SignedIn, Streaming, Visitor
from app.tools.mcp_listings import is_served
from app.tools.registry import RegisteredVersion
from app.tools.tools import ToolSpec, ToolTrial
from app.wiring import Factory

_MOST_TOKENS: Final = 4096
_TOKENS: Final = 256
_HOTTEST: Final = 2.0
_TOOL: Final = "tool "
"""Begins the names of the fields that choose a tool, before its id."""


@dataclass(frozen=True, slots=True)
class PlaygroundForm:
    models: tuple[str, str]
    prompt: str = ""
    instructions: str = ""
    max_tokens: str = str(_TOKENS)
    temperature: str = ""
    """Empty: the model's own."""
    tools: Sequence[str] = ()

    @classmethod
    def of(cls, form: Mapping[str, str]) -> Self:
        asked = cls(
            (form.get("first", ""), form.get("second", "")),
            text_of(form, "prompt", longest=LONGEST_TEXT),
            text_of(form, "instructions", longest=LONGEST_TEXT),
            form.get("max_tokens", ""),
            form.get("temperature", ""),
            [name.removeprefix(_TOOL) for name in form if name.startswith(_TOOL)],
        )
        if not asked.prompt.strip():
            raise InvalidRequest("The prompt is empty.", param="prompt")
        return asked

    def messages(self) -> list[Json]:
        """Returns the conversation; without instructions a student takes its own."""
        return instructed(
            [{"role": "user", "content": self.prompt}], self.instructions.strip() or None
        )

    def options(self) -> dict[str, Any]:
        sent = self.temperature.strip()
        return {
            "max_completion_tokens": int(_number(self.max_tokens, "max_tokens", 1, _MOST_TOKENS)),
            "temperature": _number(sent, "temperature", 0, _HOTTEST) if sent else None,
            "stream": True,
            "stream_options": {"include_usage": True},
        }


def _number(sent: str, param: str, least: float, most: float) -> float:
    try:
        value = float(sent)
    except ValueError as error:
        raise InvalidRequest(f"'{param}' is not a number.", param=param) from error
    if not least <= value <= most:
        raise InvalidRequest(f"'{param}' must be from {least:g} to {most:g}.", param=param)
    return value


MOST_TURNS: Final = 8
_DATA: Final = b"data: "
_EVENT_END: Final = b"\n\n"
PlayKind = Literal["turn", "text", "reasoning", "call", "reply", "done", "error"]


@dataclass(frozen=True, slots=True)
class PlayEvent:
    kind: PlayKind
    text: str = ""
    """More of the text, the arguments of a call, the output of a tool, or the fault."""
    name: str = ""
    """The tool of a call or of a reply; at the end its reason."""
    tokens: int | None = None
    """At the end: the tokens that were sampled in all turns."""


class _BrokenOff(Exception):
    """The stream of a turn ended with an error, which the page has been told."""


class ToolLoop:
    def __init__(
        self,
        services: Factory,
        model: str,
        messages: Sequence[Json],
        *,
        options: Mapping[str, Any],
        tools: Sequence[ToolSpec],
    ) -> None:
        self._services = services
        self._tools = {tool.name: tool for tool in tools}
        offered = {"tools": [_function(tool) for tool in tools]} if tools else {}
        self._body: Json = {"model": model, **options, **offered}
        self._messages = list(messages)
        self._tokens: int | None = None
        self._reply = StreamedReply()

    async def play(self) -> AsyncGenerator[PlayEvent, None]:
        try:
            for _ in range(MOST_TURNS):
                yield PlayEvent("turn")
                async for event in self._sample():
                    yield event
                choice = self._choice()
                message = choice["message"]
                self._messages.append(message)
                if BROKEN_CALL in message:
                    yield self._broken(message[BROKEN_CALL])
                    continue
                if not message.get("tool_calls"):
                    yield PlayEvent("done", name=choice["finish_reason"] or "", tokens=self._tokens)
                    return
                async for event in self._run(message["tool_calls"]):
                    yield event
            yield PlayEvent("done", name="turns", tokens=self._tokens)
        except RequestError as error:
            yield PlayEvent("error", error.message)
        except _BrokenOff as fault:
            yield PlayEvent("error", str(fault))

    async def _sample(self) -> AsyncIterator[PlayEvent]:
        self._reply = StreamedReply()
        stream = await self._services.completions().chat_stream(
            {**self._body, "messages": self._messages}
        )
        async with aclosing(cast("AsyncGenerator[bytes, None]", stream)) as chunks:
            async for chunk in chunks:
                for event in chunk.split(_EVENT_END):
                    for part in self._read(event):
                        yield part
        usage = self._reply.whole().get("usage") or {}
        if (sampled := usage.get("completion_tokens")) is not None:
            self._tokens = (self._tokens or 0) + sampled

    def _read(self, event: bytes) -> list[PlayEvent]:
        if not event.startswith(_DATA) or event.removeprefix(_DATA).strip() == b"[DONE]":
            return []
        chunk = json.loads(event.removeprefix(_DATA))
        if "error" in chunk:
            raise _BrokenOff(chunk["error"].get("message") or "The model's reply broke off.")
        self._reply.add(chunk)
        delta = next((one.get("delta") or {} for one in chunk.get("choices") or ()), {})
        reasoning = delta.get("reasoning") or delta.get("reasoning_content")
        texts: tuple[tuple[PlayKind, Any], ...] = (
            ("reasoning", reasoning),
            ("text", delta.get("content")),
        )
        return [PlayEvent(kind, text) for kind, text in texts if text]

    def _choice(self) -> Json:
        choices = self._reply.whole()["choices"]
        if not choices:
            raise _BrokenOff("The model's reply is empty.")
        choice: Json = choices[0]
        return choice

    def _broken(self, broken: Json) -> PlayEvent:
        """Answers a call that cannot be parsed with the sentence that training answers it with."""
        self._answer(broken["tool_call_id"], broken["message"])
        return PlayEvent("reply", broken["message"])

    async def _run(self, calls: Sequence[Json]) -> AsyncIterator[PlayEvent]:
        for call in calls:
            function = call["function"]
            yield PlayEvent("call", function["arguments"], function["name"])
        outputs = await asyncio.gather(*(self._output(call) for call in calls))
        for call, output in zip(calls, outputs, strict=True):
            self._answer(call["id"], output)
            yield PlayEvent("reply", output[:LONG_CUT_AT], call["function"]["name"])

    async def _output(self, call: Json) -> str:
        function = call["function"]
        tool = self._tools.get(function["name"])
        if tool is None:
            return f"Error: there is no tool {function['name']!r}. Tools: {', '.join(self._tools)}."
        trial = ToolTrial(tool=tool, arguments=function["arguments"], call_id=call["id"])
        return (await self._services.trials().run_tool(trial)).output

    def _answer(self, call_id: str, output: str) -> None:
        self._messages.append({"role": "tool", "tool_call_id": call_id, "content": output})


def _function(tool: ToolSpec) -> Json:
    sent = tool.model_extra or {}
    function = {name: sent[name] for name in ("description", "parameters") if sent.get(name)}
    return {"type": "function", "function": {"name": tool.name, **function}}


Play = AsyncGenerator[PlayEvent, None]


@dataclass(slots=True)
class PlayedCall:
    name: str
    arguments: str
    output: str | None = None


@dataclass(slots=True)
class PlayedTurn:
    text: str = ""
    reasoning: str = ""
    calls: list[PlayedCall] = field(default_factory=list)
    reply: str = ""
    """The answer to a call that could not be parsed."""


@dataclass(slots=True)
class ModelAnswer:
    model: str
    turns: list[PlayedTurn] = field(default_factory=list)
    tokens: int | None = None
    end: str = ""
    error: str = ""

    async def fill(self, play: Play) -> "ModelAnswer":
        """Plays the chat to its end, which also comes when the task is cancelled."""
        async with aclosing(play):
            async for event in play:
                self._add(event)
        return self

    def _add(self, event: PlayEvent) -> None:
        match event.kind:
            case "turn":
                self.turns.append(PlayedTurn())
            case "text":
                self.turns[-1].text += event.text
            case "reasoning":
                self.turns[-1].reasoning += event.text
            case "call":
                self.turns[-1].calls.append(PlayedCall(event.name, event.text))
            case "reply":
                self._reply(event)
            case "done":
                self.end, self.tokens = event.name, event.tokens
            case "error":
                self.error = event.text
            case _:
                assert_never(event.kind)

    def _reply(self, event: PlayEvent) -> None:
        waiting = [call for call in self.turns[-1].calls if call.output is None]
        if waiting:
            waiting[0].output = event.text
        else:
            self.turns[-1].reply = event.text


async def side_by_side(plays: Sequence[Play]) -> AsyncGenerator[tuple[int, PlayEvent], None]:
    """Yields the events of all chats as they come. When the caller closes it, all chats end."""
    events = asyncio.Queue[tuple[int, PlayEvent] | None]()
    tasks = [asyncio.create_task(_pump(number, play, events)) for number, play in enumerate(plays)]
    try:
        async for event in _until_ended(events, len(tasks)):
            yield event
        for task in tasks:
            await task  # a fault of the service is not a fault of the chat
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pump(
    number: int, play: Play, events: "asyncio.Queue[tuple[int, PlayEvent] | None]"
) -> None:
    try:
        async with aclosing(play):
            async for event in play:
                events.put_nowait((number, event))
    finally:
        events.put_nowait(None)


async def _until_ended(
    events: "asyncio.Queue[tuple[int, PlayEvent] | None]", running: int
) -> AsyncIterator[tuple[int, PlayEvent]]:
    while running:
        event = await events.get()
        if event is None:
            running -= 1
        else:
            yield event


router = APIRouter(include_in_schema=False, route_class=PageRoute)
_LISTED: Final = 200
_TOOL_SPEC: Final = TypeAdapter(ToolSpec)
_STREAMED: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}


@router.get("/models")
async def models_page(visitor: SignedIn, model: str | None = None) -> Response:
    found = await visitor.services.models().all()
    names = [one.name for one in found]
    chosen = next((one for one in found if one.name == model), found[-1])
    tuned = chosen.tuned
    other = tuned.base_model if tuned is not None and tuned.base_model in names else names[0]
    return await _shown(visitor, PlaygroundForm((other, chosen.name)), ())


@router.post("/models/ask")
async def ask(request: Request, visitor: SignedIn, form: OwnForm) -> Response:
    """Asks two models the same at the same time. Both end with the browser's connection."""
    asked = PlaygroundForm.of(form)
    plays = await _plays(visitor, asked)
    answers = await unless_client_hangs_up(request, _answers(asked.models, plays))
    return await _shown(visitor, asked, answers)


@router.post("/models/stream")
async def stream(visitor: Streaming, form: OwnForm) -> Response:
    """Asks as `ask` does, and sends each text while it is sampled, for the script of the page."""
    plays = await _plays(visitor, PlaygroundForm.of(form))
    return ClosingResponse(
        _sent(plays), media_type="text/event-stream", headers={**HEADERS, **_STREAMED}
    )


async def _sent(plays: Sequence[Play]) -> AsyncGenerator[bytes, None]:
    async with aclosing(side_by_side(plays)) as events:
        async for number, event in events:
            yield f"data: {json.dumps({'side': number, **asdict(event)})}\n\n".encode()


async def _answers(models: Sequence[str], plays: Sequence[Play]) -> list[ModelAnswer]:
    return await asyncio.gather(
        *(ModelAnswer(model).fill(play) for model, play in zip(models, plays, strict=True))
    )


async def _plays(visitor: Visitor, asked: PlaygroundForm) -> list[Play]:
    """Returns a chat for each model. Raises `InvalidRequest`, and `NotFound` for a tool."""
    options = asked.options()
    registered = [await visitor.services.tools().get(one) for one in asked.tools]
    tools = [
        _TOOL_SPEC.validate_python(await visitor.services.tools().usable(one))
        for one in registered
        if not is_served(one.definition)
    ]
    return [
        ToolLoop(visitor.services, model, asked.messages(), options=options, tools=tools).play()
        for model in asked.models
    ]


async def _callable_tools(visitor: Visitor) -> list[RegisteredVersion]:
    """Returns the newest tools with an endpoint of their own; an MCP server's need a session."""
    rows, _ = await visitor.services.tools().page(after=None, limit=40)
    return [one for one in rows if not is_served(one.definition)]


async def _shown(
    visitor: Visitor, asked: PlaygroundForm, answers: Sequence[ModelAnswer]
) -> Response:
    found = await visitor.services.models().all()
    tuned = [one.tuned for one in found if one.tuned is not None]
    newest = sorted(tuned, key=lambda one: (-one.created_at, -one.step))
    tools = await _callable_tools(visitor)
    students, _ = await visitor.services.students().page(after=None, limit=_LISTED)
    named = [f"{STUDENT_PREFIX}{student.name}" for student in students]
    return await visitor.page(
        "models/models.html",
        lambda: {
            "base": [one for one in found if one.tuned is None],
            "more": max(0, len(newest) - _LISTED),
            "names": [*named, *(one.name for one in found)],
        },
        tuned=newest[:_LISTED],
        project_id=visitor.owner.tenant.project_id,
        asked=asked,
        answers=answers,
        tools=tools,
        most_turns=MOST_TURNS,
        longest=LONGEST_TEXT,
        long_cut_at=LONG_CUT_AT,
    )
