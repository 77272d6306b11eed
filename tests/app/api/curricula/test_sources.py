"""Sources of curricula that are not tables: rows, curricula, and the rollouts of a job."""

import json
from typing import Any

import pytest

from tests.support.api.application import Api
from tests.support.api.organization import execute
from tests.support.registry.curriculum_calls import (
    CALL,
    CURRICULA,
    ROWS,
    WORDS,
    codes,
    made_from,
    previewed,
    rows_of,
)
from tests.support.stack import Database

# Row n of the training file was played 4 times at step 1: n % 5 of these rollouts have the reward
# 1, and the answers name their sample. Row 0 was also lost once.
FILL = """
    INSERT INTO rollouts (id, project_id, job_id, split, step, prompt_index, sample_index, attempt,
        trace_id, reward, failure_class, stop_reason, policy_version, prompt_tokens,
        completion_tokens, reasoning_tokens, tool_calls, components, trace, started_at, finished_at)
    SELECT 'ro_' || i || '_' || s, project_id, id, 'train', 1, i, s, 0, 't',
        CASE WHEN s = 4 THEN NULL WHEN s < i %% 5 THEN 1.0 ELSE 0.0 END,
        CASE WHEN s = 4 THEN 'tool_timeout' END, CASE WHEN s < 4 THEN 'final_answer' END,
        0, 1, 1, 0, 0, '{}', jsonb_build_object('turns', '[]'::jsonb, 'messages', jsonb_build_array(
            jsonb_build_object('role', 'user', 'content', 'row ' || i),
            jsonb_build_object('role', 'assistant', 'content', 'answer ' || s, 'note', 'x'))), 0, 1
    FROM fine_tuning_jobs, generate_series(0, 23) AS i, generate_series(0, 4) AS s
    WHERE id = %s AND (s < 4 OR i = 0)
"""
# Rows 0 to 11 of the validation file were played twice: each sample called the tool in its own way.
FILL_CALLS = """
    INSERT INTO rollouts (id, project_id, job_id, split, step, prompt_index, sample_index, attempt,
        trace_id, reward, failure_class, stop_reason, policy_version, prompt_tokens,
        completion_tokens, reasoning_tokens, tool_calls, components, trace, started_at, finished_at)
    SELECT 'ro_SPLIT_' || i || '_' || s, project_id, id, 'SPLIT', 1, i, s, 0, 't',
        s, NULL, 'final_answer', 0, 1, 1, 0, 1, '{}', jsonb_build_object('turns', '[]'::jsonb,
            'messages', jsonb_build_array(
            jsonb_build_object('role', 'user', 'content', 'Held out: ' || i),
            jsonb_build_object('role', 'assistant', 'tool_calls', jsonb_build_array(
                jsonb_build_object('id', 'c', 'type', 'function', 'function',
                    jsonb_build_object('name', 'lookup', 'arguments', '{"a": ' || s || '}')))),
            jsonb_build_object('role', 'tool', 'tool_call_id', 'c', 'content', 'found ' || s),
            jsonb_build_object('role', 'assistant', 'content', 'answer ' || s))), 0, 1
    FROM fine_tuning_jobs, generate_series(0, 11) AS i, generate_series(0, 1) AS s
    WHERE id = %s
"""
HELD_OUT = ("valid", "valid_greedy", "valid_base", "report")


@pytest.fixture
async def job(api: Api, database: Database) -> str:
    """A cancelled job with rollouts."""
    content = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
    training = (await api.upload(content)).json()["id"]
    validation = (await api.upload(content[: content.index(b"\n") + 1] * 10)).json()["id"]
    body = {**CALL, "training_file": training, "validation_file": validation}
    job_id = str((await api.call("POST", "/v1/fine_tuning/jobs", json=body)).json()["id"])
    execute(database, FILL, job_id)
    return job_id


async def ended(api: Api, job: str) -> None:
    assert (await api.call("POST", f"/v1/fine_tuning/jobs/{job}/cancel")).status_code == 200


async def test_rows_of_a_request_and_other_curricula_are_joined(api: Api) -> None:
    body = {"name": "first", "training": ROWS[:12], "validation": ROWS[12:]}
    first = (await api.call("POST", CURRICULA, json=body)).json()
    flat = [{"question": f"Name {word} by its number", "gold": "1"} for word in WORDS]
    made = await made_from(
        api,
        {"type": "curriculum", "curriculum_id": first["id"]},
        {"type": "rows", "rows": flat},
        split={"validation_share": 0},
    )
    rows = await rows_of(api, made["training_file"])
    assert rows[:24] == ROWS
    assert rows[24]["messages"] == [{"role": "user", "content": "Name alpha by its number"}]
    assert (rows[24]["answer"], len(rows), made["validation_file"]) == ("1", 36, None)
    assert made["made_from"]["sources"] == [
        {"type": "curriculum", "curriculum_id": first["id"], "version": 1},
        {"type": "rows", "rows": 12},
    ]


async def test_repeats_are_found_and_stay_on_one_side(api: Api) -> None:
    """Rows of one template are grouped by the first city: half of them have the same second one."""
    preview = await previewed(api, {"type": "rows", "rows": [*ROWS, *ROWS]})
    assert (preview["rows"], preview["row_groups"]) == (48, 12)
    assert codes(preview) == [("warning", "duplicate_rows"), ("warning", "alike_rows")]
    assert "24 rows repeat" in preview["findings"][0]["message"]
    assert preview["findings"][1]["message"].startswith("48 rows differ in so little")


async def test_rollouts_give_the_rows_that_they_played_with_their_difficulty(
    api: Api, job: str
) -> None:
    await ended(api, job)
    made = await made_from(api, {"type": "rollouts", "job_id": job}, split={"validation_share": 0})
    rows = await rows_of(api, made["training_file"])
    assert [row["messages"] for row in rows] == [row["messages"] for row in ROWS]
    assert [row["difficulty"] for row in rows[:6]] == [1.0, 0.75, 0.5, 0.25, 0.0, 1.0]
    assert [row["spread"] for row in rows[:6]] == [0.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    assert made["made_from"]["sources"][0]["rollouts"] == 96  # the lost one is none of them


async def test_conditions_choose_the_rollouts(api: Api, job: str) -> None:
    await ended(api, job)
    source = {"type": "rollouts", "job_id": job, "max_reward": 0.5, "split": "train"}
    preview = await previewed(api, source)
    never = [n for n in range(24) if n % 5 < 4]
    assert preview["rows"] == len(never)
    for conditions in ({"min_reward": 2}, {"stop_reason": "token_limit"}, {"step": 9}):
        body = {"sources": [{"type": "rollouts", "job_id": job, **conditions}]}
        error = (await api.call("POST", f"{CURRICULA}/preview", json=body)).json()["error"]
        assert error["param"] == "sources[0]"
        assert "no rollout" in error["message"]


async def test_good_conversations_become_supervised_rows(api: Api, job: str) -> None:
    await ended(api, job)
    contradictory = {"type": "rollouts", "job_id": job, "min_reward": 1, "max_reward": 0}
    body = {"sources": [{"type": "rows", "rows": [{"prompt": "a"}]}, contradictory]}
    refused = (await api.call("POST", "/v1/curricula/preview", json=body)).json()["error"]
    assert refused["param"] == "sources[1].min_reward"
    source = {"type": "rollouts", "job_id": job, "min_reward": 1}
    made = await made_from(api, source, method="supervised", split={"validation_share": 0})
    rows = await rows_of(api, made["training_file"])
    assert len(rows) == sum(n % 5 for n in range(24))
    assert rows[0] == {
        "messages": [
            {"role": "user", "content": "row 1"},
            {"role": "assistant", "content": "answer 0"},
        ]
    }


async def test_the_best_answer_against_the_worst_becomes_a_pair(api: Api, job: str) -> None:
    await ended(api, job)
    source = {"type": "rollouts", "job_id": job}
    made = await made_from(api, source, method="dpo", split={"validation_share": 0})
    rows = await rows_of(api, made["training_file"])
    assert len(rows) == sum(0 < n % 5 < 4 for n in range(24))
    assert rows[1] == {
        "input": {"messages": [{"role": "user", "content": "row 2"}]},
        "preferred_output": [{"role": "assistant", "content": "answer 0"}],
        "non_preferred_output": [{"role": "assistant", "content": "answer 2"}],
    }
    report = (await api.call("POST", f"{CURRICULA}/{made['id']}/test")).json()
    assert (report["passed"], report["training"]["faulty_rows"]) == (True, 0)


async def _played(api: Api, database: Database, tools: list[dict[str, Any]]) -> str:
    """Returns a cancelled job whose held-out rows were played in every split, with calls."""
    rows = [
        {**row, "messages": [{"role": "user", "content": f"Held out: {number}"}], "tools": tools}
        for number, row in enumerate(ROWS)
    ]
    files = [b"".join(json.dumps(row).encode() + b"\n" for row in part) for part in (ROWS, rows)]
    training, validation = [(await api.upload(content)).json()["id"] for content in files]
    body = {**CALL, "training_file": training, "validation_file": validation}
    job_id = str((await api.call("POST", "/v1/fine_tuning/jobs", json=body)).json()["id"])
    await ended(api, job_id)
    for split in HELD_OUT:
        execute(database, FILL_CALLS.replace("SPLIT", split), job_id)
    return job_id


@pytest.mark.parametrize("method", ["supervised", "reinforcement"])
async def test_rollouts_of_every_held_out_split_are_of_the_validation_file(
    api: Api, database: Database, method: str
) -> None:
    tools = [{"type": "function", "function": {"name": "lookup", "parameters": {}}}]
    source = {"type": "rollouts", "job_id": await _played(api, database, tools)}
    options: dict[str, Any] = {"method": method, "split": {"validation_share": 0}}
    for split in HELD_OUT:
        made = await made_from(api, {**source, "split": split}, name=f"{method} {split}", **options)
        rows = await rows_of(api, made["training_file"])
        assert len(rows) == {"supervised": 24, "reinforcement": 12}[method]
        assert all(row["tools"] == tools for row in rows)
    together = await previewed(api, source, **options)
    assert together["rows"] == {"supervised": 24 * 4, "reinforcement": 12}[method]
    assert together["first_rows"][0]["tools"] == tools
    body = {"sources": [{**source, "split": "test"}]}
    error = (await api.call("POST", f"{CURRICULA}/preview", json=body)).json()["error"]
    assert (error["param"], "jobs have none" in error["message"]) == ("sources[0].split", True)


async def test_rows_that_make_no_pair_are_counted(api: Api, database: Database) -> None:
    job_id = await _played(api, database, [])
    source = {"type": "rollouts", "job_id": job_id, "split": "valid"}
    preview = await previewed(api, source, method="dpo")
    assert codes(preview) == [("error", "no_rows"), ("warning", "pair_with_calls")]
    assert preview["findings"][1]["rows"] == 12
    body = {"name": "x", "sources": [source], "method": "dpo"}
    error = (await api.call("POST", CURRICULA, json=body)).json()["error"]
    assert (error["code"], "Rows have no pair" in error["message"]) == ("no_rows", True)


async def test_a_job_that_runs_is_refused(api: Api, job: str) -> None:
    body = {"sources": [{"type": "rollouts", "job_id": job}]}
    error = (await api.call("POST", f"{CURRICULA}/preview", json=body)).json()["error"]
    assert (error["code"], error["param"]) == ("invalid_state", "sources[0].job_id")


async def test_nothing_of_another_tenant_is_a_source(api: Api, job: str) -> None:
    await ended(api, job)
    body = {"name": "mine", "training": ROWS}
    mine = (await api.call("POST", CURRICULA, json=body)).json()
    found = {
        "file": ("file_id", mine["training_file"], "file_not_found"),
        "curriculum": ("curriculum_id", mine["id"], "curriculum_not_found"),
        "rollouts": ("job_id", job, "job_not_found"),
        "feedback_build": ("build_id", "fbuild_x", "build_not_found"),
    }
    for kind, (key, value, code) in found.items():
        for known in (value, "unknown-1"):
            body = {"name": "theirs", "sources": [{"type": kind, key: known}]}
            reply = await api.call("POST", CURRICULA, json=body, key=api.other_key)
            error = reply.json()["error"]
            assert (error["code"], error["param"]) == (code, f"sources[0].{key}")
    assert (await api.call("GET", "/v1/files", key=api.other_key)).json()["data"] == []
