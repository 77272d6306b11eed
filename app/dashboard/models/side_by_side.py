"""Plays chats at the same time: as one stream of their events, or as whole answers."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import assert_never

from app.dashboard.models.tool_loops import PlayEvent

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
    """A model's whole chat, or the reason why there is none."""

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
        """Adds an output to the first call without one."""
        waiting = [call for call in self.turns[-1].calls if call.output is None]
        if waiting:
            waiting[0].output = event.text
        else:
            self.turns[-1].reply = event.text


async def side_by_side(
    plays: Sequence[Play],
) -> AsyncGenerator[tuple[int, PlayEvent], None]:
    """Yields the events of all chats as they come, with the chat's number. When the caller closes
    it, all chats end.
    """
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
