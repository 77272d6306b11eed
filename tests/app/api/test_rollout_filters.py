"""The list of a job's rollouts over HTTP: each filter, each order, and pages that lose nothing."""

from typing import Any

import psycopg
import pytest

from tests.support.api.application import Api
from tests.support.stack import Database

JOBS = "/v1/fine_tuning/jobs"
# 5 steps of 4 rows, 3 samples each, and two validations. Rewards are 0, 0.25, 0.5 or 1; every tenth
# rollout was lost to a tool, every seventh of the others ended at its token limit.
FILL = """
    INSERT INTO rollouts (id, project_id, job_id, split, step, prompt_index, sample_index, attempt,
        trace_id, reward, failure_class, stop_reason, policy_version, prompt_tokens,
        completion_tokens, reasoning_tokens, tool_calls, components, trace, started_at, finished_at)
    SELECT 'ro_' || i, project_id, id, CASE WHEN i < 60 THEN 'train' ELSE 'valid' END,
        CASE WHEN i < 60 THEN 1 + i / 12 ELSE 5 * (i / 72) END, i / 3 %% 4, i %% 3, 0, 't' || i,
        CASE WHEN i %% 10 = 9 THEN NULL ELSE (ARRAY[0, 0.25, 0.5, 1])[1 + i %% 4] END,
        CASE WHEN i %% 10 = 9 THEN 'tool_timeout' END,
        CASE WHEN i %% 10 = 9 THEN NULL WHEN i %% 7 = 0 THEN 'token_limit' ELSE 'final_answer' END,
        0, 1, 1, 0, 0, '{}', jsonb_build_object('messages', '[]'::jsonb, 'turns', jsonb_build_array(
            jsonb_build_object('tool_calls', CASE
                WHEN i %% 4 = 0 THEN
                    '[{"name": "search"}, {"name": "search", "repeated": true}]'::jsonb
                WHEN i %% 4 = 1 THEN '[{"name": "search"}, {"name": "look up"}]'::jsonb
                WHEN i = 3 THEN jsonb_build_array(jsonb_build_object('name', repeat('x', 9000)))
                ELSE '[]'::jsonb END))), 0, 1
    FROM fine_tuning_jobs, generate_series(0, 83) AS i WHERE id = %(job)s
"""
ORDER_KEY = ("split", "step", "prompt_index", "sample_index")


@pytest.fixture
async def job(api: Api, body: dict[str, Any], database: Database) -> str:
    job_id = str((await api.call("POST", JOBS, json=body)).json()["id"])
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(FILL.encode(), {"job": job_id})
    return job_id


async def _listed(api: Api, job: str, query: str = "", *, limit: int = 100) -> list[dict[str, Any]]:
    """Returns all pages of a listing."""
    found: list[dict[str, Any]] = []
    more = True
    while more:
        after = f"&after={found[-1]['id']}" if found else ""
        reply = await api.call("GET", f"{JOBS}/{job}/rollouts?limit={limit}{query}{after}")
        assert reply.status_code == 200, reply.text
        page = reply.json()
        more = page["has_more"]
        assert len(page["data"]) == limit or not more
        found += page["data"]
    return found


def _called(row: dict[str, Any]) -> list[str]:
    return [call["name"] for turn in row["trace"]["turns"] for call in turn["tool_calls"]]


async def test_each_filter_returns_what_it_names_and_all_of_it(api: Api, job: str) -> None:
    everything = await _listed(api, job)
    assert len(everything) == 84
    conditions: dict[str, Any] = {
        "split=valid": lambda row: row["split"] == "valid",
        "step=3": lambda row: row["step"] == 3,
        "prompt_index=2": lambda row: row["prompt_index"] == 2,
        "min_reward=0.25": lambda row: row["reward"] is not None and row["reward"] >= 0.25,
        "max_reward=0.25": lambda row: row["reward"] is not None and row["reward"] <= 0.25,
        "min_reward=0.3&max_reward=0.9": lambda row: row["reward"] == 0.5,
        "stop_reason=token_limit": lambda row: row["stop_reason"] == "token_limit",
        "stop_reason=final_answer": lambda row: row["stop_reason"] == "final_answer",
        "failure_class=tool_timeout": lambda row: row["failure_class"] == "tool_timeout",
        "failure_class=grader_error": lambda _: False,
        "failed=true": lambda row: row["failure_class"] is not None,
        "failed=false&step=3": lambda row: row["failure_class"] is None and row["step"] == 3,
        "tool=search": lambda row: "search" in _called(row),
        "tool=look+up&split=train": lambda row: (
            row["split"] == "train" and "look up" in _called(row)
        ),
        f"tool={'x' * 200}": lambda row: len(_called(row)[:1] and _called(row)[0]) == 9000,
        "tool=sear": lambda _: False,
        "repeated_call=true": lambda row: _called(row) == ["search", "search"],
        "repeated_call=false&tool=search": lambda row: _called(row) == ["search", "look up"],
        "split=train&prompt_index=1&max_reward=0": lambda row: (
            (row["split"], row["prompt_index"], row["reward"]) == ("train", 1, 0)
        ),
    }
    sizes = {}
    for query, meets in conditions.items():
        expected = [row["id"] for row in everything if meets(row)]
        assert [row["id"] for row in await _listed(api, job, f"&{query}")] == expected, query
        assert [row["id"] for row in await _listed(api, job, f"&{query}", limit=2)] == expected
        sizes[query] = len(expected)
    empty = {query for query, size in sizes.items() if not size}
    assert empty == {"failure_class=grader_error", "tool=sear"}


@pytest.mark.parametrize("limit", [1, 7])
async def test_pages_by_reward_are_exact_although_many_rewards_are_equal(
    api: Api, job: str, limit: int
) -> None:
    graded = [row for row in await _listed(api, job) if row["reward"] is not None]
    expected = [
        row["id"]
        for row in sorted(
            graded, key=lambda row: (row["reward"], *(row[name] for name in ORDER_KEY))
        )
    ]
    rising = await _listed(api, job, "&order_by=reward", limit=limit)
    assert [row["id"] for row in rising] == expected
    falling = await _listed(api, job, "&order_by=reward&order=desc", limit=limit)
    assert [row["id"] for row in falling] == expected[::-1]
    best = await _listed(api, job, "&order_by=reward&order=desc&split=valid", limit=limit)
    assert [row["id"] for row in best] == [row["id"] for row in falling if row["split"] == "valid"]


async def test_the_newest_steps_can_come_first(api: Api, job: str) -> None:
    rising = [row["id"] for row in await _listed(api, job)]
    assert [row["id"] for row in await _listed(api, job, "&order=desc", limit=9)] == rising[::-1]


@pytest.mark.parametrize(
    ("query", "param", "words"),
    [
        ("reward=1", "reward", "Unknown query parameter: 'reward'."),
        ("stop_reason=tired", "stop_reason", "final_answer"),
        ("min_reward=nan", "min_reward", "finite"),
        ("prompt_index=-1", "prompt_index", "at least 0"),
        ("min_reward=0.5&max_reward=0.25", "min_reward", "(0.5) is above 'max_reward' (0.25)"),
        ("failure_class=tool_error&order_by=reward", "failure_class", "has no reward"),
        ("failed=false&failure_class=tool_error", "failed", "exclude each other"),
        ("failed=maybe", "failed", "true"),
    ],
)
async def test_a_condition_that_means_nothing_is_refused(
    api: Api, job: str, query: str, param: str, words: str
) -> None:
    reply = await api.call("GET", f"{JOBS}/{job}/rollouts?{query}")
    assert reply.status_code == 400, reply.text
    error = reply.json()["error"]
    assert error["param"] == param
    assert words in error["message"]


async def test_a_cursor_without_a_reward_has_no_position_in_the_order_of_rewards(
    api: Api, job: str
) -> None:
    lost = (await _listed(api, job, "&failure_class=tool_timeout"))[0]["id"]
    reply = await api.call("GET", f"{JOBS}/{job}/rollouts?order_by=reward&after={lost}")
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "after")
