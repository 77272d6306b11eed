"""The application with a scripted engine behind it: answers are stored, judged and built from."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from tests.support.api.application import Api, running
from tests.support.contract.service import BASE
from tests.support.engines.chat_engine import ChatEngine, chat_engine
from tests.support.stack import Database

FEEDBACK = "/v1/feedback"
BUILDS = f"{FEEDBACK}/builds"

CITIES = (
    *("Athens", "Berlin", "Cairo", "Dublin", "Essen", "Florence", "Geneva", "Hanoi", "Izmir"),
    *("Jakarta", "Kyoto", "Lima", "Madrid", "Nairobi", "Oslo", "Paris", "Quito", "Rome", "Seoul"),
    *("Tunis", "Ulm", "Vienna", "Warsaw", "Xanten", "York", "Zagreb"),
)


@dataclass(frozen=True, slots=True)
class Conversations:
    api: Api
    engine: ChatEngine

    async def __call__(
        self, verb: str, path: str, /, *, key: str | None = None, **sent: Any
    ) -> Any:
        """Makes a call that must succeed."""
        reply = await self.api.call(verb, path, key=key, json=sent or None)
        assert reply.status_code == 200, (verb, path, reply.text)
        return reply.json()

    async def refused(self, verb: str, path: str, /, **sent: Any) -> tuple[str | None, str | None]:
        """Returns the parameter and the code of a call that is refused."""
        reply = await self.api.call(verb, path, json=sent or None)
        assert 400 <= reply.status_code < 500, (verb, path, reply.text)
        error = reply.json()["error"]
        return error["param"], error["code"]

    async def said(self, question: str, answer: str, *, key: str | None = None, **body: Any) -> str:
        """Stores a completion. Returns its id."""
        self.engine.answer = answer
        made = await self(
            "POST",
            "/v1/chat/completions",
            key=key,
            model="tiny-agent",
            messages=[{"role": "user", "content": question}],
            store=True,
            **body,
        )
        return str(made["id"])

    async def judge(self, **sent: Any) -> Any:
        return await self("POST", FEEDBACK, **sent)

    async def thumbs(self, completion_id: str, rating: str, **sent: Any) -> str:
        made = await self.judge(type="thumbs", completion_id=completion_id, rating=rating, **sent)
        return str(made["id"])

    async def rows(self, file_id: str) -> list[dict[str, Any]]:
        reply = await self.api.call("GET", f"/v1/files/{file_id}/content")
        return [json.loads(line) for line in reply.content.splitlines()]


async def judge_near_duplicates(chats: Conversations) -> None:
    """Gives 52 preferences: about each city two questions that differ in one word."""
    for city in CITIES:
        for word in ("large", "famous"):
            text = (
                f"Please tell me about the {word} old bridge in the middle of the town {city} and "
                f"say which river of {city} it crosses, and who built it there"
            )
            await chats.judge(
                type="preference",
                messages=[{"role": "user", "content": text}],
                chosen="a",
                rejected="b",
            )


@asynccontextmanager
async def conversations(database: Database, **changes: Any) -> AsyncIterator[Conversations]:
    """Runs the application with these settings."""
    with chat_engine(BASE) as engine:
        settings = database.settings.model_copy(update={"engine_url": engine.url, **changes})
        async with running(replace(database, settings=settings), "127.0.0.1:9") as api:
            yield Conversations(api, engine)
