"""Removals of end users and of files, and jobs that are made at the same moment."""

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from app.teaching.feedback.service import EndUserService
from tests.support.api.conversations import BUILDS, FEEDBACK, Conversations
from tests.support.api.organization import execute
from tests.support.patience import until
from tests.support.stack import Database

JOBS = "/v1/fine_tuning/jobs"
PERSON = f"{FEEDBACK}/end_users/ann"


async def build_of(
    chats: Conversations, *, people: tuple[str, ...] = (), validation_share: float = 0
) -> Any:
    """Builds files with rows of `ann` and of others, or with rows of these people in turns."""
    for number in range(20):
        await chats.judge(
            type="preference",
            messages=[{"role": "user", "content": f"Which {number} of {chr(97 + number) * 9}?"}],
            chosen="a",
            rejected="b",
            end_user=people[number % len(people)] if people else "ann" if number < 5 else "ben",
        )
    return await chats("POST", BUILDS, method="dpo", name="n", validation_share=validation_share)


def waits_for_a_lock(database: Database) -> Callable[[], bool]:
    query = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    return lambda: bool(execute(database, query))


async def test_no_job_begins_with_a_file_that_is_being_rewritten(
    chats: Conversations, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = await build_of(chats)
    curriculum = await chats("GET", f"/v1/curricula/{build['curriculum_id']}")
    file_id = curriculum["training_file"]
    clean, refusals = EndUserService._clean, []

    async def with_a_job_before(*arguments: Any) -> None:
        job = {"model": "tiny-agent", "training_file": file_id, "method": {"type": "dpo"}}
        refusals.append(await chats.refused("POST", JOBS, **job))
        shown = await chats("GET", f"/v1/files/{file_id}")
        assert shown["status"] == "uploaded"
        assert "end user" in shown["status_details"]
        await clean(*arguments)

    monkeypatch.setattr(EndUserService, "_clean", with_a_job_before)
    removed = await chats("DELETE", PERSON)
    assert refusals == [("training_file", "file_in_use")]
    assert (removed["feedback"], removed["rows"], removed["files"]) == (5, 5, [file_id])
    newest = await chats("GET", f"/v1/curricula/{build['curriculum_id']}")
    job = {"training_file": newest["training_file"], "method": {"type": "dpo"}}
    assert (await chats("POST", JOBS, model="tiny-agent", **job))["id"]


async def test_jobs_are_named_once_and_again_to_everybody_whose_rows_they_read(
    chats: Conversations, database: Database
) -> None:
    """A job reads both files. Both people are in them, and the second one leaves after the files
    were replaced.
    """
    build = await build_of(chats, people=("ann", "ben"), validation_share=0.5)
    curriculum = {"id": build["curriculum_id"]}
    method = {"type": "dpo"}
    job = await chats("POST", JOBS, model="tiny-agent", curriculum=curriculum, method=method)
    assert job["validation_file"] is not None
    execute(database, "UPDATE fine_tuning_jobs SET status = 'succeeded'")
    removed = await chats("DELETE", PERSON)
    assert (len(removed["files"]), removed["jobs"]) == (2, [job["id"]])
    again = await chats("DELETE", PERSON)
    assert (again["files"], again["jobs"]) == ([], [job["id"]])
    later = await chats("DELETE", f"{FEEDBACK}/end_users/ben")
    assert later["jobs"] == [job["id"]]
    for path, key in (("zoe", None), ("ann", chats.api.other_key)):
        other = await chats("DELETE", f"{FEEDBACK}/end_users/{path}", key=key)
        assert other["jobs"] == []


async def test_a_build_without_rows_of_the_person_keeps_its_files_for_jobs(
    chats: Conversations, database: Database
) -> None:
    """The build names its people; its file may have lost the rows already."""
    build = await build_of(chats)
    await chats("DELETE", f"{FEEDBACK}/end_users/somebody-else")
    execute(database, "UPDATE feedback_builds SET people = people || '{zoe}'")
    assert (await chats("DELETE", f"{FEEDBACK}/end_users/zoe"))["files"] == []
    curriculum = await chats("GET", f"/v1/curricula/{build['curriculum_id']}")
    assert (await chats("GET", f"/v1/files/{curriculum['training_file']}"))["status"] == "processed"


async def test_a_job_that_is_made_while_its_file_is_deleted_finds_none(
    chats: Conversations, database: Database
) -> None:
    build = await build_of(chats)
    curriculum = await chats("GET", f"/v1/curricula/{build['curriculum_id']}")
    file_id = curriculum["training_file"]
    job = {"model": "tiny-agent", "training_file": file_id, "method": {"type": "dpo"}}
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as deleting:
        deleting.execute(b"UPDATE files SET deleted_at = now() WHERE id = %s", (file_id,))
        made = asyncio.create_task(chats.refused("POST", JOBS, **job))
        await until(waits_for_a_lock(database), what="the job's wait for the file")
        deleting.commit()
        assert await made == ("training_file", "file_not_found")


async def test_a_deletion_waits_for_a_job_that_is_being_made(
    chats: Conversations, database: Database
) -> None:
    build = await build_of(chats)
    curriculum = await chats("GET", f"/v1/curricula/{build['curriculum_id']}")
    file_id = curriculum["training_file"]
    job = {"model": "tiny-agent", "training_file": file_id, "method": {"type": "dpo"}}
    made = await chats("POST", JOBS, **job)
    execute(database, "UPDATE fine_tuning_jobs SET status = 'succeeded'")
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as making:
        # As the insert of a job does, this locks the files and then writes the job.
        making.execute(b"SELECT id FROM files WHERE id = %s FOR SHARE", (file_id,))
        making.execute(b"UPDATE fine_tuning_jobs SET status = 'queued'")
        deleted = asyncio.create_task(chats.refused("DELETE", f"/v1/files/{file_id}"))
        await until(waits_for_a_lock(database), what="the deletion's wait for the job")
        making.commit()
        assert await deleted == (None, "file_in_use")
    assert (await chats("GET", f"{JOBS}/{made['id']}"))["training_file"] == file_id
