"""Removals of an end user and builds whose process is killed: no byte of the person is left."""

import random
from typing import Any

import pytest

from app.files.row_files import RowFiles
from app.kit.objects import LocalObjects
from app.teaching.feedback.service import FeedbackBuildService
from tests.support.api.conversations import BUILDS, FEEDBACK, Conversations
from tests.support.api.organization import execute
from tests.support.feedback.end_users import CANARY, PATH, PERSON, built, filled, holders
from tests.support.processes.counted_turns import turns_of
from tests.support.stack import Database

MOST_TURNS = 100
"""Most turns of the event loop between the instants of two kills."""
SOMEBODY = f"{FEEDBACK}/end_users/somebody-else"


async def test_a_removal_that_is_killed_again_and_again_leaves_no_byte(
    chats: Conversations, database: Database
) -> None:
    await filled(chats)
    builds = await built(chats)
    [(project,)] = execute(database, "SELECT DISTINCT project_id FROM feedback")
    chance, turn, kills, ended = random.Random(1), 0, 0, False
    while not ended:
        turn += chance.randint(1, MOST_TURNS)
        ended, _ = await turns_of(
            *("tests.support.feedback.killed_removal", turn, project, PERSON),
            settings=database.settings,
        )
        kills += not ended
    assert kills >= 5
    assert holders(database, CANARY) == holders(database, PERSON) == set()
    for build in builds:
        newest = await chats("GET", f"/v1/curricula/{build['curriculum_id']}")
        assert newest["training_rows"] == 12
        assert len(await chats.rows(newest["training_file"])) == 12
        checked = await chats(
            "POST",
            "/v1/fine_tuning/jobs/validate",
            model="tiny-agent",
            curriculum={"id": newest["id"]},
            method={"type": build["method"]},
        )
        assert checked["valid"]


async def test_bytes_that_were_left_behind_their_row_go_with_the_next_removal(
    chats: Conversations, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(chats)
    await built(chats)

    async def fails(*_: Any) -> None:
        raise OSError("the process ended here")

    with monkeypatch.context() as patch:
        patch.setattr(LocalObjects, "delete", fails)
        assert (await chats.api.call("DELETE", PATH)).status_code == 500
    assert holders(database, CANARY) == {"objects"}
    await chats("DELETE", SOMEBODY)
    assert holders(database, CANARY) == holders(database, PERSON) == set()


async def test_a_build_that_is_killed_after_a_removal_leaves_no_file(
    chats: Conversations, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The removal comes between the reading of feedback and the file; the process ends before it
    looks again.
    """
    await filled(chats)
    write = RowFiles.write

    async def after_a_removal(*arguments: Any, **more: Any) -> Any:
        await chats("DELETE", PATH)
        return await write(*arguments, **more)

    async def ended(*_: Any) -> None:
        raise OSError("the process ended here")

    with monkeypatch.context() as patch:
        patch.setattr(RowFiles, "write", after_a_removal)
        patch.setattr(RowFiles, "discard", ended)
        patch.setattr(FeedbackBuildService, "_check_unchanged", ended)
        reply = await chats.api.call("POST", BUILDS, json={"method": "dpo", "name": "n"})
    assert reply.status_code >= 400
    assert holders(database, CANARY) == holders(database, PERSON) == set()


async def test_two_removals_at_once_leave_no_row_of_either(
    chats: Conversations, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one comes between the reading of a file and the row of its replacement."""
    await filled(chats)
    await chats("POST", BUILDS, method="dpo", name="n")
    write, other = RowFiles.write, "ann-5"

    async def after_another(*arguments: Any, **more: Any) -> Any:
        monkeypatch.setattr(RowFiles, "write", write)
        await chats("DELETE", f"{FEEDBACK}/end_users/{other}")
        return await write(*arguments, **more)

    monkeypatch.setattr(RowFiles, "write", after_another)
    assert await chats.refused("DELETE", PATH) == (None, "removal_changed")
    await chats("DELETE", PATH)
    assert holders(database, CANARY) == holders(database, PERSON) == holders(database, other)
    assert holders(database, other) == set()
