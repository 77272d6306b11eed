"""Plays a chat of the playground: samples a turn, runs its tool calls, and so on to the answer.

Promises the loop of `docs/tool-loop.md`, which is the episode that was trained. A tool that fails
ends the chat, as it ends a rollout.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from app.dashboard.rendering.formats import LONG_CUT_AT
from app.domain.chat.messages import BROKEN_CALL
from app.domain.chat.streamed_replies import StreamedReply
from app.domain.documents.json_object import Json
from app.domain.errors import RequestError
from app.domain.tools.tools import ToolSpec
from app.domain.tools.trials import ToolTrial
from app.factory.project import Factory

MOST_TURNS: Final = 8
_DATA: Final = b"data: "
_EVENT_END: Final = b"\n\n"
PlayKind = Literal["turn", "text", "reasoning", "call", "reply", "done", "error"]


@dataclass(frozen=True, slots=True)
class PlayEvent:
    """A step of a chat, in the order in which a page shows them."""

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
    """One chat of one model."""

    def __init__(
        self,
        services: Factory,
        model: str,
        prompt: str,
        *,
        options: Mapping[str, Any],
        tools: Sequence[ToolSpec],
    ) -> None:
        self._services = services
        self._tools = {tool.name: tool for tool in tools}
        offered = {"tools": [_function(tool) for tool in tools]} if tools else {}
        self._body: Json = {"model": model, **options, **offered}
        self._messages: list[Json] = [{"role": "user", "content": prompt}]
        self._tokens: int | None = None
        self._reply = StreamedReply()

    async def play(self) -> AsyncGenerator[PlayEvent, None]:
        """Yields the chat as it goes. A fault is its last event."""
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
        """Yields the texts of a turn while the engine samples it."""
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
        """Runs the calls of a turn at the same time, and answers in their order."""
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
    """Returns the tool as a model is offered it, with the schema that it was registered with."""
    sent = tool.model_extra or {}
    function = {name: sent[name] for name in ("description", "parameters") if sent.get(name)}
    return {"type": "function", "function": {"name": tool.name, **function}}
