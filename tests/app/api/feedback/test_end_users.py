"""Removal of an end user: no table and no object keeps a byte of what they said."""

from typing import Any
from urllib.parse import quote

import pytest

from app.teaching.feedback.service import EndUserService
from tests.support.api.conversations import BUILDS, FEEDBACK, Conversations
from tests.support.feedback.end_users import CANARY, PATH, PERSON, built, filled, holders
from tests.support.objects.stored_objects import stored_files
from tests.support.stack import Database


async def test_an_end_user_leaves_no_byte_and_another_project_removes_none(
    chats: Conversations, database: Database
) -> None:
    await filled(chats)
    builds = await built(chats)
    assert [build["training_rows"] for build in builds] == [17, 15]
    tables = {"stored_completions", "feedback"}
    assert holders(database, CANARY) == tables | {"objects"}
    assert holders(database, PERSON) == tables | {"feedback_builds", "objects"}
    before = holders(database, CANARY), holders(database, PERSON)
    foreign = await chats("DELETE", PATH, key=chats.api.other_key)
    assert (foreign["completions"], foreign["feedback"], foreign["files"]) == (0, 0, [])
    assert (holders(database, CANARY), holders(database, PERSON)) == before
    removed = await chats("DELETE", PATH)
    assert holders(database, CANARY) == holders(database, PERSON) == set()
    counts = {name: removed[name] for name in ("completions", "feedback", "rows", "jobs")}
    assert counts == {"completions": 6, "feedback": 11, "rows": 8, "jobs": []}
    assert len(removed["files"]) == 2
    assert removed["curricula"] == [build["curriculum_id"] for build in sorted(
        builds, key=lambda build: str(build["id"]))]  # fmt: skip
    for build, left in zip(builds, (12, 12), strict=True):
        path = f"/v1/curricula/{build['curriculum_id']}"
        newest = await chats("GET", path)
        assert (newest["version"], newest["training_rows"]) == (2, left)
        rows = await chats.rows(newest["training_file"])
        assert len(rows) == left
        job = await chats(
            "POST",
            "/v1/fine_tuning/jobs/validate",
            model="tiny-agent",
            curriculum={"id": build["curriculum_id"]},
            method={"type": build["method"]},
        )
        assert job["valid"], job
        first = await chats("GET", f"{path}?version=1")
        reply = await chats.api.call("GET", f"/v1/files/{first['training_file']}/content")
        assert reply.status_code == 404
    again = await chats("DELETE", PATH)
    assert (again["completions"], again["feedback"], again["files"]) == (0, 0, [])


async def test_files_of_your_own_are_left_alone(chats: Conversations) -> None:
    await filled(chats)
    [build, _] = await built(chats)
    name = f"{build['id']}-training.jsonl"
    mine = {}
    for content in (b'{"feedback": ["x"]}', b"[1, 2]", b'{"feedback": 7}'):
        made = await chats.api.call(
            "POST", "/v1/files", data={"purpose": "user_data"}, files={"file": (name, content)}
        )
        assert made.status_code == 200, made.text
        mine[made.json()["id"]] = content
    removed = await chats("DELETE", PATH)
    assert (removed["rows"], len(removed["files"])) == (8, 2)
    for file_id, content in mine.items():
        kept = await chats.api.call("GET", f"/v1/files/{file_id}/content")
        assert kept.content == content


async def test_rows_go_also_if_their_feedback_went_before(
    chats: Conversations, database: Database
) -> None:
    await filled(chats)
    await built(chats)
    for one in (await chats("GET", "/v1/chat/completions?limit=100"))["data"]:
        await chats("DELETE", f"/v1/chat/completions/{one['id']}")
    assert holders(database, CANARY) == {"feedback", "objects"}
    removed = await chats("DELETE", PATH)
    assert (removed["completions"], removed["feedback"], removed["rows"]) == (0, 1, 8)
    assert holders(database, CANARY) == holders(database, PERSON) == set()


async def test_a_curriculum_without_rows_is_deleted(
    chats: Conversations, database: Database
) -> None:
    for number in range(10):
        await chats.judge(
            type="preference",
            messages=[{"role": "user", "content": f"{CANARY} {number}"}],
            chosen="a",
            rejected="b",
            end_user=PERSON,
        )
    build = await chats("POST", BUILDS, method="dpo", name="n")
    removed = await chats("DELETE", PATH)
    assert (removed["rows"], removed["curricula"]) == (10, [build["curriculum_id"]])
    path = f"/v1/curricula/{build['curriculum_id']}"
    assert await chats.refused("GET", path) == ("id", "curriculum_not_found")
    assert holders(database, CANARY) == set()


async def test_nothing_is_removed_while_a_job_reads_the_rows(
    chats: Conversations, database: Database
) -> None:
    await filled(chats)
    build = (await built(chats))[0]
    job = await chats(
        "POST",
        "/v1/fine_tuning/jobs",
        model="tiny-agent",
        curriculum={"id": build["curriculum_id"]},
        method={"type": "dpo"},
    )
    before = holders(database, CANARY)
    assert await chats.refused("DELETE", PATH) == (None, "file_in_use")
    assert holders(database, CANARY) == before
    assert (await chats("GET", f"{FEEDBACK}?author={quote(PERSON)}"))["data"] != []
    await chats("POST", f"/v1/fine_tuning/jobs/{job['id']}/cancel")
    assert (await chats("DELETE", PATH))["jobs"] == [job["id"]]
    assert holders(database, CANARY) == set()


async def test_an_interrupted_removal_is_finished_by_the_next(
    chats: Conversations, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(chats)
    await built(chats)
    kept = stored_files(database)
    with monkeypatch.context() as patch:

        async def interrupted(*_: Any) -> None:
            raise OSError("the process ended here")

        patch.setattr(EndUserService, "_clean", interrupted)
        reply = await chats.api.call("DELETE", PATH)
        assert reply.status_code == 500
    assert stored_files(database) == kept
    assert holders(database, CANARY) == {"objects"}
    removed = await chats("DELETE", f"{FEEDBACK}/end_users/somebody-else")
    assert (removed["completions"], removed["feedback"], removed["rows"]) == (0, 0, 8)
    assert holders(database, CANARY) == holders(database, PERSON) == set()


@pytest.mark.parametrize("name", ["\nline\n", "ends in /", "ü\u2028x", "%2F"])
async def test_any_name_that_was_stored_can_be_removed(chats: Conversations, name: str) -> None:
    answer = await chats.said("Where?", "Rome", user=name)
    removed = await chats("DELETE", f"{FEEDBACK}/end_users/{quote(name, safe='')}")
    assert removed["completions"] == 1
    status = (await chats.api.call("GET", f"/v1/chat/completions/{answer}")).status_code
    assert status == 404
