"""The progress of a practice in the words of a lay reader, from rollouts as rows."""

import json
from collections.abc import Mapping
from typing import Any

from tests.support.api.application import Api
from tests.support.dashboard.scenes import HOSTILE, execute, put_rollout, trace
from tests.support.dashboard.teaching import QUESTIONS, follow, make_student, rows
from tests.support.dashboard.visits import Visit, texts_of
from tests.support.stack import Database

TESTS = 10
STUDENT = "/teach/students/clerk"


async def practice(visit: Visit, api: Api, *, others: Mapping[int, Any] | None = None) -> str:
    """Starts a practice whose tests are about refunds and orders in turn. `others` are further keys
    of some rows. Returns its page.
    """
    await make_student(visit, "clerk")
    made: dict[str, list[Any]] = rows()
    for at, row in enumerate(made["validation"]):
        row["topic"] = ("refunds", "orders")[at % 2]
        row.update((others or {}).get(at, {}))
    sent = await api.call("POST", "/v1/curricula", json={"name": "Tickets", **made})
    fields = {"recipe": "customer_support", "curriculum": sent.json()["id"]}
    return (await follow(visit, f"{STUDENT}/plan", fields)).url.path


def put_test(
    database: Database, page: str, step: int, right: set[int], *, split: str = "valid_greedy"
) -> None:
    """Puts a test in which these questions are answered right."""
    for row in range(TESTS):
        put_rollout(
            database,
            page.rpartition("/")[2],
            f"ro_{split}_{step}_{row}",
            split=split,
            step=step,
            prompt_index=row,
            reward=1.0 if row in right else 0.2,
            trace=trace(QUESTIONS[14 + row], f"{HOSTILE} at {step}" if row else f"Step {step}"),
        )


def put_report(database: Database, page: str) -> str:
    """Ends the job of a page with a report. Returns its id."""
    job = page.rpartition("/")[2]
    report = {"rows": TESTS, "step": 6, "reward": {"difference": 0.1}}
    execute(
        database,
        "INSERT INTO reports (project_id, job_id, report) SELECT project_id, id, %s::jsonb"
        " FROM fine_tuning_jobs WHERE id = %s",
        (json.dumps(report), job),
    )
    done = "UPDATE fine_tuning_jobs SET status = 'succeeded', finished_at = now() WHERE id = %s"
    execute(database, done, (job,))
    return job


async def test_progress_is_counted_and_names_what_is_weak(
    visit: Visit, api: Api, database: Database
) -> None:
    page = await practice(visit, api)
    put_test(database, page, 0, {1}, split="valid")
    varied = await visit.get(page)
    assert "Before practice it answers 1 of 10 questions right." in varied.text
    assert "These answers were sampled with variety." in varied.text
    put_test(database, page, 0, {1, 3, 5})
    first = await visit.get(page)
    assert "Before practice it answers 3 of 10 questions right." in first.text
    assert "sampled with variety" not in first.text
    put_test(database, page, 6, {0, 1, 2, 3, 5, 7, 9})
    shown = await visit.get(page)
    said = "It answers 7 of 10 questions right, up from 3. Still weak at refunds (2 of 5)."
    assert said in texts_of(shown.text, "p")
    assert f"/jobs/{page.rpartition('/')[2]}/stream" in shown.text
    put_test(database, page, 9, {1})
    assert "It answers 1 of 10 questions right, down from 3." in (await visit.get(page)).text
    stopped = await follow(visit, f"{page}/stop", {})
    assert "cancelled" in texts_of(stopped.text, "dd")
    assert "data-stream" not in stopped.text


async def test_a_report_card_shows_answers_before_and_after(
    visit: Visit, api: Api, database: Database
) -> None:
    page = await practice(visit, api)
    put_test(database, page, 0, {1, 3})
    put_test(database, page, 6, {0, 2, 3})
    put_test(database, page, 9, {0})
    job = put_report(database, page)
    card = await visit.get(page)
    assert "It answers 3 of 10 questions right, up from 2." in card.text
    assert texts_of(card.text, "h1") == ["Report card of clerk"]
    assert texts_of(card.text, "h3") == [QUESTIONS[14 + row] for row in (1, 0, 2)]
    assert (card.text.count("After, better"), card.text.count("After, worse")) == (2, 1)
    assert "<script>alert" not in card.text
    assert "Step 0" in texts_of(card.text, "p")
    proposed = await follow(visit, f"{STUDENT}/propose", {"job": job})
    assert proposed.status_code == 400
    assert "only a succeeded job has a model" in proposed.text


async def test_questions_and_topics_are_those_of_the_rows_of_the_job(
    visit: Visit, api: Api, database: Database
) -> None:
    """Rows that the form of examples would refuse keep their place, and a curriculum may change."""
    others = {
        1: {"preferred_output": "no pair"},
        2: {"preferred_output": [{"role": "assistant", "content": "Yes."}]},
        4: {"tags": ["shoes", "sizes"]},
    }
    page = await practice(visit, api, others=others)
    [curriculum] = (await api.call("GET", "/v1/curricula")).json()["data"]
    later = [{**row, "topic": "later"} for row in reversed(rows()["training"])]
    path = f"/v1/curricula/{curriculum['id']}"
    changed = await api.call("POST", path, json={"validation": later})
    assert (changed.status_code, changed.json()["validation_rows"]) == (200, 14), changed.text
    put_test(database, page, 0, {4, 5})
    put_test(database, page, 6, {0, 1, 2, 3, 5, 6, 7, 8})
    put_report(database, page)
    card = await visit.get(page)
    assert "Still weak at shoes (0 of 1), sizes (0 of 1)." in card.text
    asked = [QUESTIONS[14 + row] for row in (4, 0, 1, 2, 3, 6)]
    assert texts_of(card.text, "h3") == asked
