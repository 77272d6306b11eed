"""An end user whose texts have a canary, and the places that have it."""

from typing import Any
from urllib.parse import quote

from tests.support.api.conversations import BUILDS, FEEDBACK, Conversations
from tests.support.api.organization import execute
from tests.support.objects.stored_objects import stored_files
from tests.support.stack import Database

CANARY = "canary-7f3a"
PERSON = "person/7 & co"
PATH = f"{FEEDBACK}/end_users/{quote(PERSON, safe='')}"


def holders(database: Database, text: str) -> set[str]:
    """Returns the tables and objects that contain a text."""
    tables = execute(
        database, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
    )
    assert {("stored_completions",), ("feedback",), ("feedback_builds",)} <= set(tables)
    found = {
        name
        for (name,) in tables
        for (row,) in execute(database, f"SELECT t::text FROM {name} AS t")
        if text in row
    }
    objects = {path for path in stored_files(database) if text.encode() in path.read_bytes()}
    return found | ({"objects"} if objects else set())


async def filled(chats: Conversations) -> None:
    """Stores answers of the person and of others: thumbs, corrections and preferences."""
    for number in range(15):
        question = f"Question {number} {CANARY if number < 3 else 'plain'}"
        user = {"user": PERSON} if number < 3 else {}
        good, bad = [await chats.said(question, text, **user) for text in ("good", "bad")]
        await chats.thumbs(good, "up", author=f"ann-{number}")
        await chats.thumbs(bad, "down", author=f"ann-{number}")
        await chats.judge(type="correction", completion_id=bad, correction=f"better {number}")
    await chats.judge(
        type="preference",
        messages=[{"role": "user", "content": "Which?"}],
        chosen=f"{CANARY} in a text",
        rejected="other",
        comment=CANARY,
        end_user=PERSON,
    )
    plain = await chats.said("Question 3 plain", "third")
    await chats.thumbs(plain, "down", author=PERSON)


async def built(chats: Conversations) -> list[Any]:
    return [
        await chats("POST", BUILDS, method=method, name=method) for method in ("dpo", "supervised")
    ]
