"""Rows from feedback that another curriculum copies: a removal finds them there as well."""

from typing import Any

import pytest

from tests.support.api.conversations import BUILDS, FEEDBACK, Conversations
from tests.support.objects.stored_objects import stored_files
from tests.support.stack import Database

CANARY = "canary-5c1e"
PERSON = "customer-5"


async def _built(chats: Conversations) -> dict[str, str]:
    """Builds 24 pairs, of which 4 are about a person."""
    for number in range(24):
        text = f"{CANARY} number {number}" if number < 4 else f"Question {number * 7919}"
        await chats.judge(
            type="preference",
            messages=[{"role": "user", "content": text}],
            chosen="good",
            rejected="bad",
            **({"end_user": PERSON} if number < 4 else {}),
        )
    built: dict[str, str] = await chats("POST", BUILDS, method="dpo", name="built")
    return built


@pytest.mark.parametrize("kind", ["curriculum", "file"])
async def test_copied_rows_of_a_person_are_removed(
    chats: Conversations, database: Database, kind: str
) -> None:
    built = await _built(chats)
    curriculum = await chats("GET", f"/v1/curricula/{built['curriculum_id']}")
    rows = {
        file: await chats.rows(file)
        for file in (curriculum["training_file"], curriculum["validation_file"])
    }
    [about_person] = [file for file in rows if CANARY in str(rows[file])]
    source = {
        "curriculum": {"curriculum_id": built["curriculum_id"]},
        "file": {"file_id": about_person},
    }[kind]
    made = await chats(
        "POST", "/v1/curricula", name="copied", method="dpo", sources=[{"type": kind, **source}]
    )
    copied = [about_person] if kind == "file" else rows
    assert made["made_from"]["rows"] == sum(len(rows[file]) for file in copied)
    removed = await chats("DELETE", f"{FEEDBACK}/end_users/{PERSON}")
    assert made["id"] in removed["curricula"]
    newest = await chats("GET", f"/v1/curricula/{made['id']}")
    assert newest["version"] == 2
    texts = [path.read_bytes() for path in stored_files(database)]
    assert all(CANARY.encode() not in text and PERSON.encode() not in text for text in texts)
    builds = (await chats("GET", BUILDS))["data"]
    assert {build["curriculum_id"] for build in builds} == {built["curriculum_id"], made["id"]}


async def _copied(chats: Conversations, build: dict[str, str]) -> dict[str, Any]:
    """Makes a curriculum of all rows of a build. Returns the build that records it."""
    made = await chats(
        "POST",
        "/v1/curricula",
        name="copied",
        method="dpo",
        sources=[{"type": "feedback_build", "build_id": build["id"]}],
    )
    builds = (await chats("GET", BUILDS))["data"]
    [copied] = [each for each in builds if each["curriculum_id"] == made["id"]]
    assert isinstance(copied, dict)
    return copied


def _prompts(build: dict[str, Any]) -> tuple[int, int, int]:
    return build["prompts"], build["prompt_groups"], build["alike_rows"]


async def test_the_report_of_copied_rows_counts_those_of_one_form(chats: Conversations) -> None:
    build = await _built(chats)
    copied = await _copied(chats, build)
    assert _prompts(copied) == _prompts(build) == (24, 21, 20)
    assert copied["sources"]["preference"] == {"feedback": 0, "used": 0, "rows": 24}


async def test_rows_from_feedback_are_for_their_methods(chats: Conversations) -> None:
    built = await _built(chats)
    body = {"name": "x", "sources": [{"type": "feedback_build", "build_id": built["id"]}]}
    assert await chats.refused("POST", "/v1/curricula", **body) == ("method", "invalid_value")
