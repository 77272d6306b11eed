"""The page of a job: values, states, buttons, and the renewal of a page."""

import json
import re
from html import unescape
from threading import current_thread
from typing import Any

import pytest

from app.pages import rendering as formats
from app.pages import rendering as pages
from app.rollouts.metrics import PackedCurve
from tests.support.api.application import Api
from tests.support.dashboard.scenes import (
    STEPS,
    create_job,
    execute,
    put_points,
    put_rollout,
    trace,
    train,
)
from tests.support.dashboard.visits import Visit, rows_of, texts_of
from tests.support.stack import Database

JOBS = "/v1/fine_tuning/jobs"


async def test_the_page_shows_the_spread_of_the_rewards(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api)
    put_points(
        database,
        job,
        {
            ("reward/mean", "train"): [0.5, 0.75],
            ("reward/p10", "train"): [0.1, 0.6],
            ("reward/p90", "train"): [0.9, 1.0],
        },
    )
    assert "Rewards of a step" not in (await visit.get(f"/jobs/{job}")).text
    for step, rewards in ((1, [0.0, 0.0, 0.5, None]), (2, [0.5, 1.0, 1.0, 1.0])):
        for sample, reward in enumerate(rewards):
            put_rollout(
                database, job, f"ro_{step}_{sample}", trace=trace("Which?", "This."),
                step=step, sample_index=sample, reward=reward,
            )  # fmt: skip
    page = (await visit.get(f"/jobs/{job}")).text
    outcome = rows_of(page, "Reward, table")
    assert outcome[0] == ["Step", "training", "90th percentile", "10th percentile"]
    assert outcome[1:] == [["1", "0.5", "0.9", "0.1"], ["2", "0.75", "1", "0.6"]]
    assert page.count('data-mark="edge"') == 2
    [head, *steps] = rows_of(page, "Rewards of a step, table")
    assert (head[1], head[6], head[10]) == ("0 to 0.1", "0.5 to 0.6", "0.9 to 1")
    assert steps == [
        ["1", "2", *["0"] * 4, "1", *["0"] * 4],
        ["2", *["0"] * 5, "1", *["0"] * 3, "3"],
    ]
    assert page.count("<rect ") == 4
    assert (
        "rewards from 0 to 1; 33% of the rollouts of step 1 earned 0.5 or more, 100% of step 2."
    ) in page


async def test_a_job_that_waits_has_a_page(api: Api, visit: Visit, database: Database) -> None:
    job = await create_job(api)
    page = await visit.get(f"/jobs/{job}")
    assert page.status_code == 200
    assert "No step is done yet" in page.text
    put_points(database, job, {("reward/mean", "valid"): [0.2], ("reward/mean", "train"): [0.9]})
    [_, row] = rows_of((await visit.get("/")).text, "Jobs")
    assert row[4:7] == ["0.2", "0.9 in training", "–"]  # other rows: no comparison
    assert "Created fine-tuning job" in page.text


async def test_each_chart_has_a_table_with_its_values(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api)
    train(database, job)
    page = (await visit.get(f"/jobs/{job}")).text
    reward = rows_of(page, "Reward, table")
    assert reward[0] == ["Step", "training", "validation", "before training"]
    assert reward[1] == ["0", "", "0.125", "0.125"]
    assert reward[-1] == [str(STEPS), "0.7", "0.7", "0.125"]
    assert rows_of(page, "Lost rollouts, table")[1] == ["1", "0.1", "0.1"]
    assert rows_of(page, "Tool calls, table")[0] == ["Step", "all tools", "search"]
    assert rows_of(page, "Grader&#39;s components, table")[0] == ["Step", "format"]
    assert rows_of(page, "Entropy, table")[1] == ["1", "1.5"]
    names = re.findall(r'role="img" aria-label="([^"]+)"', page)
    assert len(names) == page.count('<figure class="chart"') == 7
    assert names[0] == (
        "Reward: training from 0.15 to 0.7; validation from 0.125 to 0.7; before training 0.125; "
        "steps 0 to 12."
    )


async def test_findings_describe_what_the_curves_show(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api)
    train(database, job)
    page = (await visit.get(f"/jobs/{job}")).text
    lost = f'<a href="/jobs/{job}/rollouts?failure_class=tool_timeout">tool timeout</a> 12'
    assert lost in page
    section = page.partition("Findings</h2>")[2].partition("</section>")[0]
    found = texts_of(section, "li")
    assert found == [
        (
            "good The report has a gain in reward of +0.75 over 4 rows, 95 % interval +0.5 to "
            "+0.9. Read the report"
        ),
        "look 10% of the rollouts of the last 5 steps were lost: 10% tool_timeout. See the curve",
        "look search answers 50% of its calls with an error. See the curve",
        (
            "unclear No clear difference yet: the validation reward went from 0.125 at step 0 to "
            "0.7 at step 12, a gain of +0.575 (its noise is not known). See the curve"
        ),
    ]
    assert re.findall(r'href="#(chart-\w+)"', section) == [
        "chart-lost", "chart-tool_errors", "chart-outcome",
    ]  # fmt: skip


async def test_a_gain_is_read_more_strictly_while_the_job_continues(
    api: Api, visit: Visit, database: Database
) -> None:
    """Seven of eight rows rose from 0 to 1, by luck in one of 128 cases; three looks ask 240."""
    job = await create_job(api)
    put_points(database, job, {("reward/mean", "valid"): [0.0, 0.25, 0.5, 0.875]})
    for row in range(8):
        for step, reward in ((0, 0.0), (3, float(row < 7))):
            put_rollout(
                database, job, f"v{row}-{step}", trace=trace("Which?", "This."),
                split="valid", step=step, prompt_index=row, reward=reward,
            )  # fmt: skip

    async def found() -> str:
        page = (await visit.get(f"/jobs/{job}")).text
        section = page.partition("Findings</h2>")[2].partition("</section>")[0]
        [gain] = [text for text in texts_of(section, "li") if "a gain of" in text]
        return gain

    assert (await found()).startswith("unclear No clear difference yet")
    assert "+0.875 over 8 rows, interval -0.0756 to +0.999, which allows for 3" in await found()
    assert (await api.call("POST", f"{JOBS}/{job}/cancel")).status_code == 200
    assert (await found()).startswith("good The validation reward went from 0 at step 0")
    assert "+0.875 over 8 rows, 95 % interval +0.156 to +0.997." in await found()


async def test_a_page_that_renews_itself_is_sent_news_only(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api)
    page = (await visit.get(f"/jobs/{job}")).text
    asked = re.search(r'hx-get="([^"]+)"', page)
    assert asked is not None
    again = await visit.part(asked[1])
    assert (again.status_code, again.content) == (204, b"")
    put_points(database, job, {("reward/mean", "train"): [0.5]})
    execute(database, "UPDATE fine_tuning_jobs SET step = 1 WHERE id = %s", (job,))
    news = await visit.part(asked[1])
    assert news.status_code == 200
    assert rows_of(news.text, "Reward, table")[-1] == ["1", "0.5"]
    assert "<html" not in news.text
    assert (await visit.get(asked[1])).status_code == 200  # a person's reload shows the page
    await visit.press(job, "cancel")
    assert "hx-trigger" not in (await visit.part(asked[1])).text


async def test_buttons_fit_the_state_and_do_what_their_labels_name(api: Api, visit: Visit) -> None:
    job = await create_job(api)

    async def state() -> tuple[str, list[str]]:
        shown: Any = (await api.call("GET", f"{JOBS}/{job}")).json()
        page = (await visit.get(f"/jobs/{job}")).text
        return shown["status"], re.findall(rf'action="/jobs/{job}/(\w+)"', page)

    assert await state() == ("validating_files", ["pause", "cancel"])
    pressed = await visit.press(job, "pause")
    assert (pressed.status_code, pressed.headers["location"]) == (303, f"/jobs/{job}")
    assert await state() == ("paused", ["resume", "cancel"])
    twice = await visit.press(job, "pause")
    assert twice.status_code == 400
    assert "it cannot be paused now" in twice.text
    await visit.press(job, "resume")
    assert await state() == ("queued", ["pause", "cancel"])
    await visit.press(job, "cancel")
    assert await state() == ("cancelled", [])


async def test_events_are_a_log_with_severity_and_pages(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api)
    execute(
        database,
        "INSERT INTO job_events (id, project_id, job_id, level, type, message) "
        "SELECT 'ev-' || i, project_id, id, CASE WHEN i = 130 THEN 'warn' ELSE 'info' END, "
        "CASE WHEN i %% 2 = 0 THEN 'message' ELSE 'metrics' END, 'said ' || i "
        "FROM fine_tuning_jobs, generate_series(1, 230) AS i WHERE id = %s",
        (job,),
    )
    page = (await visit.get(f"/jobs/{job}")).text
    said = [text.partition("UTC ")[2] for text in texts_of(page, "li")]
    assert said[:2] == ["info said 230", "info said 228"]
    assert len(said) == 30
    first = (await visit.get(f"/jobs/{job}/events")).text
    assert '<li class="warn">' in first
    assert len(texts_of(first, "li")) == 100
    older = re.search(r'rel="next" href="([^"]+)"', first)
    assert older is not None
    assert "Created fine-tuning job" in (await visit.get(older[1])).text


async def test_pages_are_rendered_where_no_other_request_waits(
    api: Api, visit: Visit, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event loop renders none of a long job's values; it only fetches texts of its curves."""
    job = await create_job(api)
    train(database, job)
    threads = set[str]()

    def noting(value: float | None) -> str:
        threads.add(current_thread().name)
        return formats.number(value)

    monkeypatch.setitem(pages.TEMPLATES.filters, "number", noting)
    read = PackedCurve.read

    def noting_read(curve: PackedCurve) -> dict[int, float]:
        threads.add(current_thread().name)
        return read(curve)

    monkeypatch.setattr(PackedCurve, "read", noting_read)
    paths = ("", "/report", "/rollouts", "/rollouts/ro_0_1_0", "/rows/report/1")
    for path in ("/", *(f"/jobs/{job}{path}" for path in paths)):
        threads.clear()
        assert (await visit.get(path)).status_code == 200
        assert threads, path
        assert all(name.startswith("pages") for name in threads), path


async def test_a_job_links_to_the_trackers_that_show_it(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api, integrations=[{"type": "wandb", "wandb": {"project": "p"}}])
    assert "Also at" not in (await visit.get(f"/jobs/{job}")).text
    url = "https://wandb.example/team/rivers/runs/a?b=<script>"
    execute(
        database,
        "INSERT INTO job_events (id, project_id, job_id, level, type, message, data) "
        "SELECT 'ftevent-link', project_id, id, 'info', 'message', 'shown', %s::jsonb "
        "FROM fine_tuning_jobs WHERE id = %s",
        (json.dumps({"about": "a", "url": url, "tracker": "Weights & Biases"}), job),
    )
    page = (await visit.get(f"/jobs/{job}")).text
    [link] = re.findall(r'<dt>Also at</dt><dd><a href="([^"]*)"[^>]*>([^<]*)</a>', page)
    assert (unescape(link[0]), unescape(link[1])) == (url, "Weights & Biases")
    other = await create_job(api, integrations=[{"type": "trackio"}])
    assert "Also at" not in (await visit.get(f"/jobs/{other}")).text


async def test_a_job_links_to_its_attached_evals_and_their_runs(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api)
    assert "Attached evals" not in (await visit.get(f"/jobs/{job}")).text
    waiting = {"eval_id": "eval_a", "data_source": {}}
    ended = {**waiting, "eval_id": "eval_b", "start_run_id": "run_1", "tuned_run_id": "run_2"}
    execute(
        database,
        "UPDATE fine_tuning_jobs SET evals = %s WHERE id = %s",
        (json.dumps([waiting, ended]), job),
    )
    page = (await visit.get(f"/jobs/{job}")).text
    [shown] = re.findall(r"<dt>Attached evals</dt><dd[^>]*>(.*?)</dd>", page)
    assert re.findall(r'href="([^"]*)"', shown) == [
        "/evals/eval_a",
        "/evals/eval_b",
        "/evals/eval_b/runs/run_1",
        "/evals/eval_b/runs/run_2",
    ]
