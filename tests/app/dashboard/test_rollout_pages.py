"""Rollouts, rows and the report: values, order, filters, and texts that nobody may trust."""

import json
import re
import shlex
from html import unescape
from typing import Any

import pytest

from app.kit.ids import SampleKey
from tests.support.api.application import ENDPOINT, Api
from tests.support.dashboard.scenes import (
    HOSTILE,
    STEPS,
    call,
    create_job,
    execute,
    put_rollout,
    trace,
    train,
)
from tests.support.dashboard.visits import Markup, Visit, rows_of, texts_of
from tests.support.stack import Database


@pytest.fixture
async def job(api: Api, database: Database) -> str:
    job = await create_job(api)
    train(database, job)
    return job


async def test_the_report_compares_in_all_and_row_by_row(visit: Visit, job: str) -> None:
    page = (await visit.get(f"/jobs/{job}/report")).text
    assert texts_of(page, "dd") == ["3", "1", "0"]
    assert rows_of(page, "Comparisons")[1:] == [
        ["Reward", "0.125", "0.875", "+0.75", "+0.5 to +0.9"],
        ["Tool calls", "0.125", "0.875", "−0.5", "too few or too equal rows"],
        ["format (2 of 4 rows)", "0.125", "0.875", "+0.75", "too few or too equal rows"],
    ]
    assert rows_of(page, "Rows")[1:] == [
        ["0", "0.5", "0.5", "±0", "tie", "1", "1", "±0"],
        *([str(row), "0", "1", "+1", "win", "1", "1", "±0"] for row in (1, 2, 3)),
    ]


async def test_the_report_states_that_its_rows_were_trained_on(
    visit: Visit, job: str, database: Database
) -> None:
    said = "2 of the rows of the validation file are in the training file too"
    assert said not in (await visit.get(f"/jobs/{job}/report")).text
    execute(database, """UPDATE reports SET report = report || '{"rows_in_training": 2}'::jsonb""")
    assert said in (await visit.get(f"/jobs/{job}/report")).text


async def test_the_report_states_that_its_judge_saw_each_model_apart(
    visit: Visit, job: str, database: Database
) -> None:
    said = "do not show the gain"
    assert said not in (await visit.get(f"/jobs/{job}/report")).text
    part = '{"judged_apart": ["method.reinforcement.grader.graders.j"]}'
    execute(database, f"UPDATE reports SET report = report || '{part}'::jsonb")
    page = (await visit.get(f"/jobs/{job}/report")).text
    assert said in page
    assert "<code>method.reinforcement.grader.graders.j</code>" in page
    assert "judged base and tuned model" in (await visit.get(f"/jobs/{job}")).text


async def test_a_job_without_a_report_names_the_reason(api: Api, visit: Visit) -> None:
    reply = await visit.get(f"/jobs/{await create_job(api)}/report")
    assert reply.status_code == 404
    assert "has no report yet" in reply.text


async def test_rollouts_are_filtered_and_paged(visit: Visit, job: str) -> None:
    path: str | None = f"/jobs/{job}/rollouts?split=report&min_reward=0.4&step={STEPS}&row="
    found: list[list[str]] = []
    while path is not None:
        page = (await visit.get(path)).text
        found += rows_of(page, "Rollouts")[1:]
        following = re.search(r'rel="next" href="([^"]+)"', page)
        path = None if following is None else following[1].replace("&amp;", "&")
    assert len(found) == 12
    assert {row[1] for row in found} == {str(STEPS)}
    best = (await visit.get(f"/jobs/{job}/rollouts?order_by=reward&newest=true")).text
    assert rows_of(best, "Rollouts")[1][3] == "1"
    assert 'value="reward" selected' in best
    assert "No such rollouts" in (await visit.get(f"/jobs/{job}/rollouts?step=99")).text
    for wrong in ("stepp=1", "split=all", "min_reward=1&max_reward=0", "step=-1"):
        assert (await visit.get(f"/jobs/{job}/rollouts?{wrong}")).status_code == 400, wrong


async def test_a_rollout_shows_its_turns_calls_grades_and_siblings(
    visit: Visit, job: str, database: Database
) -> None:
    columns: dict[str, Any] = {"step": 3, "prompt_index": 2}
    put_rollout(
        database, job, "bad", **columns, sample_index=1, reward=0.0, trace=trace("Q", "A1"),
        components='{"format": 0.5}',
    )  # fmt: skip
    two_rows = trace("Q", "A2")
    two_rows["turns"][1]["row"] = 1
    put_rollout(database, job, "good", **columns, sample_index=2, reward=1.0, trace=two_rows)
    put_rollout(
        database, job, "lost", **columns, sample_index=0, reward=None, stop_reason=None,
        failure_class="tool_timeout", failure_message="search: no answer",
        trace=trace("Which river?", "", call('{"river": "Nile"}', error="http_404")),
    )  # fmt: skip
    lost = (await visit.get(f"/jobs/{job}/rollouts/lost")).text
    siblings = rows_of(lost, "Rollouts of this row at this step")[1:]
    assert [row[:4] for row in siblings] == [
        ["no. 2", "1", "+0.5", "final answer"],
        ["no. 1", "0", "−0.5", "final answer"],
        ["no. 0", "–", "–", "lost: tool timeout"],
    ]
    assert "search: no answer" in lost
    assert "Which river?" in lost
    assert "&#34;river&#34;: &#34;Nile&#34;" in lost
    assert "http_404" in lost
    assert "250 ms, 2 attempts" in lost
    bad = (await visit.get(f"/jobs/{job}/rollouts/bad")).text
    assert rows_of(bad, "Grades")[1:] == [
        ["the whole", "0", "The answer is right."],
        ["format", "0.5", "–"],
    ]
    assert f'rel="prev" href="/jobs/{job}/rollouts/good"' in bad
    assert f'rel="next" href="/jobs/{job}/rollouts/lost"' in bad
    good = (await visit.get(f"/jobs/{job}/rollouts/good")).text
    assert ("turn 1 · row" in good, "turn 2 · row 2" in good) == (False, True)
    raw = (await visit.get(f"/jobs/{job}/rollouts/bad/raw.json")).json()
    assert (raw["reward"], raw["trace"]["messages"][0]["content"]) == (0.0, "Q")
    assert "project_id" not in raw


async def test_a_rollout_shows_its_row_and_the_requests_as_they_were_sent(
    visit: Visit, job: str, database: Database
) -> None:
    key = SampleKey(job, "train", 4, 3, 0)
    made = call("Nile", call_id=key.call_id(0, 0), arguments='{"q": "it\'s"}')
    columns: dict[str, Any] = {"prompt_index": 3, "trace_id": key.trace_id}
    for step in (2, 4, 6):
        put_rollout(database, job, f"at{step}", **columns, step=step, trace=trace("Q", "A", made))
    page = (await visit.get(f"/jobs/{job}/rollouts/at4")).text
    commands = re.findall(r'class="command".*?>(.*?)</pre>', page, re.DOTALL)
    grader, tool = [shlex.split(unescape(command)) for command in commands]
    sent = json.loads(tool[-1])
    assert tool[:2] == ["curl", ENDPOINT]
    assert f"Idempotency-Key: {key.call_id(0, 0)}" in tool
    assert (sent["call_id"], sent["id"]) == (key.call_id(0, 0), key.function_call_id(0, 0))
    assert (sent["arguments"], sent["trace_id"]) == ('{"q": "it\'s"}', key.trace_id)
    graded = json.loads(grader[-1])
    assert (graded["sample"]["output_text"], graded["trace_id"]) == ("A", key.trace_id)
    assert [one["output"] for one in graded["sample"]["tool_calls"]] == ["Nile"]
    assert graded["item"]["messages"] == [{"name": None, "role": "user", "content": "hi"}]
    [row] = re.findall(r'aria-label="Row of the file">(.*?)</pre>', page, re.DOTALL)
    assert json.loads(unescape(row)) == {"messages": [{"role": "user", "content": "hi"}]}
    assert f'data-key="[" href="/jobs/{job}/rollouts/at2"' in page
    assert f'data-key="]" href="/jobs/{job}/rollouts/at6"' in page
    put_rollout(database, job, "beyond", step=1, prompt_index=99, trace=trace("Q", "A"))
    assert "has no row 99" in (await visit.get(f"/jobs/{job}/rollouts/beyond")).text


async def test_a_row_is_shown_before_and_now(visit: Visit, job: str) -> None:
    page = (await visit.get(f"/jobs/{job}/rows/report/1")).text
    assert [text for text in texts_of(page, "h2") if text.startswith("Step")] == [
        "Step 0", f"Step {STEPS}",
    ]  # fmt: skip
    assert "Answer at step 0." in page
    assert f"Answer at step {STEPS}." in page
    same = (await visit.get(f"/jobs/{job}/rows/report/1?before={STEPS}&now=7")).text
    assert "Answer at step 0." not in same
    assert "No rollout of this row at this step." in same
    assert (await visit.get(f"/jobs/{job}/rows/report/99")).status_code == 404
    assert (await visit.get(f"/jobs/{job}/rows/all/1")).status_code == 400


async def test_hostile_texts_are_shown_as_text(visit: Visit, job: str, database: Database) -> None:
    hostile = trace(HOSTILE, HOSTILE, call(HOSTILE, name=HOSTILE, arguments="[" * 3000))
    hostile["grader_reasons"] = {HOSTILE: HOSTILE}
    columns: dict[str, Any] = {"failure_class": "tool_error", "failure_message": HOSTILE}
    put_rollout(database, job, "evil", trace=hostile, reward=None, step=5, **columns)
    execute(
        database,
        "UPDATE fine_tuning_jobs SET error = jsonb_build_object('code', %s::text, 'message', "
        "%s::text, 'param', null), model = %s, fine_tuned_model = %s WHERE id = %s",
        (HOSTILE, HOSTILE, HOSTILE, HOSTILE, job),
    )
    execute(
        database,
        "INSERT INTO job_metrics (project_id, job_id, name, split, step, value) "
        "SELECT project_id, id, %s, 'train', 1, 1 FROM fine_tuning_jobs WHERE id = %s",
        (f"reward/component/{HOSTILE}", job),
    )
    for path in (
        "/", f"/jobs/{job}", f"/jobs/{job}/rollouts?step=5", f"/jobs/{job}/rollouts/evil",
        f"/jobs/{job}/rows/train/0",
    ):  # fmt: skip
        page = await visit.get(path)
        assert page.status_code == 200, path
        assert "&lt;script&gt;alert(1)" in page.text, path
        assert "<script>alert" not in page.text, path
        assert "<img" not in page.text, path
        assert Markup(page.text).inline == [], path
    raw = await visit.get(f"/jobs/{job}/rollouts/evil/raw.json")
    assert raw.headers["content-type"] == "application/json"
    assert raw.headers["x-content-type-options"] == "nosniff"


async def test_long_texts_and_many_turns_are_cut(
    visit: Visit, job: str, database: Database
) -> None:
    huge = trace("Q", "x" * 100_000, *(call("y" * 10_000) for _ in range(50)))
    put_rollout(database, job, "huge", trace=huge, step=5)
    page = (await visit.get(f"/jobs/{job}/rollouts/huge")).text
    assert "(96,000 more characters)" in page
    assert "30 more calls are in the" in page
    assert len(page) < 300_000
    turn = {**huge["turns"][1], "tool_calls": [call("z" * 5000)]}
    messages = [{"role": "assistant", "content": f"turn {n}"} for n in range(500)]
    many = {"messages": messages, "turns": [turn] * 500}
    put_rollout(database, job, "many", trace=many, step=6)
    page = (await visit.get(f"/jobs/{job}/rollouts/many")).text
    assert "400 more turns are in the" in page
    assert len(page) < 500_000
    raw = await visit.get(f"/jobs/{job}/rollouts/many/raw.json")
    assert len(raw.json()["trace"]["turns"]) == 500
