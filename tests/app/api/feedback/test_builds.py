"""Files built from feedback: what each kind trains, what is dropped and why, what jobs accept."""

import json
from typing import Any

from tests.support.api.conversations import (
    BUILDS,
    CITIES,
    FEEDBACK,
    Conversations,
    judge_near_duplicates,
)
from tests.support.api.organization import execute
from tests.support.stack import Database

TRIED_AND_MADE: tuple[dict[str, Any], ...] = ({}, {"dry_run": True})


def asked(place: str) -> dict[str, Any]:
    return {"role": "user", "content": f"Which river runs through the old town of {place}?"}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


async def rated(chats: Conversations, place: str) -> tuple[str, str]:
    """Stores a good and a bad answer with thumbs. Returns the ids of the feedback."""
    good = await chats.said(asked(place)["content"], f"The river of {place}.")
    bad = await chats.said(asked(place)["content"], "No idea.")
    return await chats.thumbs(good, "up", author="ann"), await chats.thumbs(bad, "down")


async def dropped(chats: Conversations, **body: Any) -> dict[str, int]:
    plan = await chats("POST", BUILDS, dry_run=True, **body)
    return {one["reason"]: one["feedback"] for one in plan["dropped"]}


async def files_of(chats: Conversations, build: dict[str, Any]) -> dict[str, Any]:
    query = f"?version={build['curriculum_version']}"
    found: dict[str, Any] = await chats("GET", f"/v1/curricula/{build['curriculum_id']}{query}")
    return found


async def validated(chats: Conversations, build: dict[str, Any], method: str) -> dict[str, Any]:
    report: dict[str, Any] = await chats(
        "POST",
        "/v1/fine_tuning/jobs/validate",
        model="tiny-agent",
        curriculum={"id": build["curriculum_id"], "version": build["curriculum_version"]},
        method={"type": method},
    )
    return report


async def test_thumbs_become_pairs_that_a_dpo_job_accepts(chats: Conversations) -> None:
    ids = {place: await rated(chats, place) for place in CITIES}
    report = {
        "object": "feedback.build",
        "method": "dpo",
        "alike_rows": 26,
        "training_rows": 16,
        "validation_rows": 10,
        "prompts": 26,
        "prompt_groups": 26,
        "sources": {
            "thumbs": {"feedback": 52, "used": 52, "rows": 26},
            "correction": {"feedback": 0, "used": 0, "rows": 0},
            "preference": {"feedback": 0, "used": 0, "rows": 0},
        },
        "dropped": [],
        "findings": {},
    }
    nothing = dict.fromkeys(("id", "created_at", "curriculum_id", "curriculum_version"))
    assert await chats("POST", BUILDS, method="dpo", dry_run=True) == report | nothing
    assert (await chats("GET", BUILDS))["data"] == []
    assert (await chats("GET", "/v1/files"))["data"] == []
    build = await chats("POST", BUILDS, method="dpo", name="thumbs")
    assert build == report | {name: build[name] for name in nothing}
    assert (await chats("GET", BUILDS))["data"] == [build]
    assert await chats("GET", f"{BUILDS}/{build['id']}") == build
    curriculum = await files_of(chats, build)
    assert (curriculum["name"], curriculum["version"]) == ("thumbs", 1)
    training = await chats.rows(curriculum["training_file"])
    held_out = await chats.rows(curriculum["validation_file"])
    rows = {row["input"]["messages"][0]["content"]: row for row in (*training, *held_out)}
    assert (len(training), len(held_out), len(rows)) == (16, 10, 26)
    row = rows[asked("Oslo")["content"]]
    assert [one.pop("created_at") > 0 for one in row["feedback"]] == [True, True]
    assert sorted(row.pop("feedback"), key=lambda one: one["id"]) == sorted(
        (
            {"id": id_, "type": "thumbs", "author": author, "end_users": []}
            for id_, author in zip(ids["Oslo"], ("ann", None), strict=True)
        ),
        key=lambda one: str(one["id"]),
    )
    assert row == {
        "input": {"messages": [asked("Oslo")]},
        "preferred_output": [said("The river of Oslo.")],
        "non_preferred_output": [said("No idea.")],
    }
    job = await validated(chats, build, "dpo")
    assert (job["valid"], job["errors"], job["warnings"]) == (True, [], [])


async def test_corrections_become_rows_that_a_supervised_job_accepts(chats: Conversations) -> None:
    tools = [{"type": "function", "function": {"name": "find"}}]
    for place in CITIES[:12]:
        answer = await chats.said(asked(place)["content"], "No idea.", tools=tools)
        await chats.judge(type="correction", completion_id=answer, correction=f"{place}'s.")
    liked = await chats.said("Are you well?", "Yes.")
    await chats.thumbs(liked, "up")
    build = await chats("POST", BUILDS, method="supervised", name="corrections")
    assert build["training_rows"] == build["sources"]["correction"]["rows"] == 12
    assert [one["reason"] for one in build["dropped"]] == ["not_for_this_method"]
    rows = await chats.rows((await files_of(chats, build))["training_file"])
    assert {row["messages"][0]["content"]: row["messages"][1:] for row in rows} == {
        asked(place)["content"]: [said(f"{place}'s.")] for place in CITIES[:12]
    }
    assert all(row["tools"] == tools for row in rows)
    job = await validated(chats, build, "supervised")
    assert (job["valid"], job["errors"]) == (True, [])
    again = await chats(
        *("POST", BUILDS),
        method="supervised",
        thumbs_up_as_rows=True,
        curriculum_id=build["curriculum_id"],
    )
    assert (again["curriculum_version"], again["training_rows"], again["dropped"]) == (2, 13, [])
    assert await dropped(chats, method="dpo") == {"no_opposite": 1, "not_for_this_method": 12}
    pairs = await chats(*("POST", BUILDS), method="dpo", corrections_as_pairs=True, name="pairs")
    rows = await chats.rows((await files_of(chats, pairs))["training_file"])
    assert {row["non_preferred_output"][0]["content"] for row in rows} == {"No idea."}
    assert (await validated(chats, pairs, "dpo"))["valid"]


async def test_preferences_become_pairs(chats: Conversations) -> None:
    for place in CITIES[:10]:
        if place < "E":
            made = [await chats.said(asked(place)["content"], text) for text in "ab"]
            names = ("chosen_completion_id", "rejected_completion_id")
            sent: dict[str, Any] = dict(zip(names, made, strict=True))
        else:
            sent = {"messages": [asked(place)], "chosen": "a", "rejected": "b"}
        await chats.judge(type="preference", **sent)
    build = await chats("POST", BUILDS, method="dpo", name="n")
    rows = await chats.rows((await files_of(chats, build))["training_file"])
    assert len(rows) == 10
    assert {(row["preferred_output"][0]["content"], row["non_preferred_output"][0]["content"])
            for row in rows} == {("a", "b")}  # fmt: skip


async def test_what_is_dropped_has_its_reason(chats: Conversations) -> None:
    question = "Where?"
    rome, oslo, lima = [await chats.said(question, text) for text in ("Rome", "Oslo", "Lima")]
    await chats.thumbs(rome, "down", author="ann")
    for author in ("ann", "bob", "eve"):
        await chats.thumbs(rome, "up", author=author)
    await chats.thumbs(rome, "down", author="joe")
    assert await dropped(chats, method="dpo") == {"duplicate": 1, "no_opposite": 3, "outvoted": 1}
    await chats.thumbs(oslo, "down")
    assert await dropped(chats, method="dpo") == {"duplicate": 1, "outvoted": 1}
    for rating in ("up", "down"):
        await chats.thumbs(lima, rating)
    assert (await dropped(chats, method="dpo"))["tied"] == 2
    await chats.judge(type="correction", completion_id=rome, correction="Rome")
    await chats.judge(type="correction", completion_id=rome, correction="Oslo")
    after = await dropped(chats, method="supervised")
    assert (after["correction_changes_nothing"], after["correction_repeats_rejected"]) == (1, 1)
    await chats.judge(type="preference", chosen_completion_id=oslo, rejected_completion_id=rome)
    after = await dropped(chats, method="dpo")
    assert after["preference_cycle"] == 5, "four thumbs of the pair, and the preference"


async def test_near_duplicates_are_on_one_side(chats: Conversations) -> None:
    """Each place has two questions that differ in one word."""
    await judge_near_duplicates(chats)
    build = await chats("POST", BUILDS, method="dpo", name="n", validation_share=0.3)
    assert (build["prompts"], build["prompt_groups"]) == (52, 26)
    curriculum = await files_of(chats, build)
    sides = [
        {row["input"]["messages"][0]["content"].split()[14] for row in await chats.rows(file_id)}
        for file_id in (curriculum["training_file"], curriculum["validation_file"])
    ]
    assert sides[0].isdisjoint(sides[1])
    assert sides[0] | sides[1] == set(CITIES)
    assert build["validation_rows"] == 2 * len(sides[1]) == 16


async def test_too_few_rows_are_refused_and_nothing_stays(chats: Conversations) -> None:
    await rated(chats, "Oslo")
    assert await chats.refused("POST", BUILDS, method="dpo", name="n") == (None, "too_few_rows")
    assert (await chats("GET", BUILDS))["data"] == (await chats("GET", "/v1/files"))["data"] == []


async def test_builds_refuse_what_they_cannot_do(chats: Conversations) -> None:
    for sent, expected in (
        ({"method": "dpo"}, ("name", "missing_required_parameter")),
        ({"method": "ppo", "name": "n"}, ("method", "invalid_value")),
        ({"method": "dpo", "name": "n", "curriculum_id": "c"}, ("name", "invalid_value")),
        (
            {"method": "supervised", "name": "n", "corrections_as_pairs": True},
            ("corrections_as_pairs", "invalid_value"),
        ),
    ):  # fmt: skip
        assert await chats.refused("POST", BUILDS, **sent) == expected, sent
    unknown = {"method": "dpo", "curriculum_id": "curr_x"}
    for dry in TRIED_AND_MADE:
        refusal = await chats.refused("POST", BUILDS, **unknown, **dry)
        assert refusal == ("curriculum_id", "curriculum_not_found")
    assert await chats.refused("GET", f"{BUILDS}/x") == ("id", "not_found")


async def test_another_project_builds_from_its_own_feedback(chats: Conversations) -> None:
    for place in CITIES[:10]:
        await rated(chats, place)
    build = await chats("POST", BUILDS, method="dpo", name="n")
    other = chats.api.other_key
    reply = await chats.api.call("GET", f"{BUILDS}/{build['id']}", key=other)
    assert reply.status_code == 404
    assert (await chats("GET", BUILDS, key=other))["data"] == []
    plan = await chats("POST", BUILDS, key=other, method="dpo", dry_run=True)
    assert (plan["training_rows"], plan["sources"]["thumbs"]["feedback"]) == (0, 0)
    assert (await chats("GET", f"{FEEDBACK}/findings", key=other))["total"] == 0


async def test_the_last_answer_of_a_rollout_is_judged(
    chats: Conversations, database: Database, body: dict[str, Any]
) -> None:
    """The prompt is all that came before the answer, calls and their replies included."""
    job = (await chats("POST", "/v1/fine_tuning/jobs", **body))["id"]
    call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    turns = [
        asked("Oslo"),
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "Akerselva"},
    ]
    for number in range(12):
        trace = {"messages": [*turns, said(f"answer {number}")], "turns": []}
        add_rollout(database, job, number, trace)
    cut = {"messages": turns, "turns": []}
    add_rollout(database, job, 12, cut)
    for number in range(12):
        await chats.judge(
            type="correction", rollout_id=f"rollout_{number}", correction="Akerselva."
        )
    sent = {"type": "thumbs", "rating": "up", "rollout_id": "rollout_12"}
    assert await chats.refused("POST", FEEDBACK, **sent) == ("rollout_id", "invalid_value")
    build = await chats("POST", BUILDS, method="dpo", corrections_as_pairs=True, name="n")
    rows = await chats.rows((await files_of(chats, build))["training_file"])
    assert [row["input"]["messages"] for row in rows] == [turns] * 12
    assert {row["non_preferred_output"][0]["content"] for row in rows} == {
        f"answer {number}" for number in range(12)
    }


def add_rollout(database: Database, job_id: str, number: int, trace: dict[str, Any]) -> None:
    columns = (
        "id, project_id, job_id, split, step, prompt_index, sample_index, attempt, trace_id,"
        " policy_version, prompt_tokens, completion_tokens, reasoning_tokens, tool_calls,"
        " components, trace, started_at, finished_at"
    )
    execute(
        database,
        f"INSERT INTO rollouts ({columns}) SELECT %s, project_id, id, 'train', 1, 0, %s, 0, 't',"
        " 0, 1, 1, 0, 1, '{}', %s, 1, 2 FROM fine_tuning_jobs WHERE id = %s",
        *(f"rollout_{number}", number, json.dumps(trace), job_id),
    )
