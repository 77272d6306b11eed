"""The report's page: the quadrant, the answers that changed most, the change of tokens and time."""

import json

from tests.support.api.application import Api
from tests.support.dashboard.scenes import (
    HOSTILE,
    STEPS,
    create_job,
    end,
    execute,
    put_rollout,
    trace,
)
from tests.support.dashboard.visits import Markup, Visit, rows_of, texts_of
from tests.support.stack import Database

REWARDS = (0.0, 0.1, 0.2, 0.25, 0.4, -0.5, -0.6, 0.7, 0.8, 0.9, 1.0, 0.15)
"""Change of the reward by row: row 0 stays the same, row 1 changes least."""


async def test_the_report_is_compared_by_a_field_of_the_rows(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await trained(api, database)
    untagged = (await visit.get(f"/jobs/{job}/report")).text
    assert "No held-out row has a value in this field" in untagged
    both: dict[str, object] = {"tags": ["low", HOSTILE]}
    fields: list[dict[str, object]] = [
        *(both for _ in range(5)),
        *[{"tags": ["low"], "level": 2}] * 2,
        *[{"tags": "high", "level": 2.5}] * 4,
        {"tags": {"no": "tag"}, "level": True},
    ]
    message = {"role": "user", "content": "hi"}
    rows = b"".join(json.dumps({"messages": [message], **one}).encode() + b"\n" for one in fields)
    file_id = (await api.upload(b"\n" + rows)).json()["id"]
    set_file = "UPDATE fine_tuning_jobs SET validation_file = %s WHERE id = %s"
    execute(database, set_file, (file_id, job))
    page = (await visit.get(f"/jobs/{job}/report")).text
    assert "<script>alert" not in page
    found = rows_of(page, "By tag")[1:]
    assert [row[:8] for row in found] == [
        # The changes of rows 0 to 6: (0 + 0.1 + 0.2 + 0.25 + 0.4 - 0.5 - 0.6) / 7.
        ["low", "7", "4", "1", "2", "1", "0.9786", "−0.02143"],
        [HOSTILE[:80], "5", "4", "1", "0", "1", "1.19", "+0.19"],
        ["high", "4", "4", "0", "0", "1", "1.85", "+0.85"],
        ["without one", "1", "1", "0", "0", "1", "1.15", "+0.15"],
    ]
    assert [row[8] for row in found[1:]] == ["too few or too equal rows"] * 3
    # The mean less and more 2.447 times 0.3828/sqrt(7).
    assert found[0][8] == "−0.3755 to +0.3326"
    levels = rows_of((await visit.get(f"/jobs/{job}/report?by=level")).text, "By tag")[1:]
    assert [(row[0], row[1]) for row in levels] == [
        ("2", "2"), ("true", "1"), ("2.5", "4"), ("without one", "5"),
    ]  # fmt: skip
    execute(database, "UPDATE files SET deleted_at = now() WHERE id = %s", (file_id,))
    assert "By tag" in (await visit.get(f"/jobs/{job}/report")).text


async def trained(api: Api, database: Database) -> str:
    """Returns a job whose tuned model calls one tool more in row 9 and later, one less before."""
    job = await create_job(api)
    for row, change in enumerate(REWARDS):
        for step, reward, calls in ((0, 1.0, 2), (STEPS, 1.0 + change, 1 if row < 9 else 3)):
            put_rollout(
                database, job, f"ro_{step}_{row}", split="report", step=step, prompt_index=row,
                reward=reward, tool_calls=calls, completion_tokens=30 if step else 40 + row,
                finished_at=12.0 if step else 14.0, trace=trace("Q", f"{row} at {step}: {HOSTILE}"),
            )  # fmt: skip
    end(database, job)
    return job


async def test_the_report_shows_what_changed_and_what_it_cost(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await trained(api, database)
    page = (await visit.get(f"/jobs/{job}/report")).text
    tokens, seconds = rows_of(page, "Tokens and time")[1:]
    assert tokens[:4] == ["Completion tokens", "45.5", "30", "−15.5"]
    # 15.5 less and more 2.201 times 3.606/sqrt(12).
    assert tokens[4] == "−17.79 to −13.21"
    assert seconds == ["Seconds of a rollout", "4", "2", "−2", "too few or too equal rows"]
    changed = rows_of(page, "Answers that changed most")[1:]
    assert [(row[0], row[1]) for row in changed] == [
        ("10", "+1"), ("9", "+0.9"), ("8", "+0.8"), ("7", "+0.7"), ("6", "−0.6"), ("5", "−0.5"),
        ("4", "+0.4"), ("3", "+0.25"), ("2", "+0.2"), ("11", "+0.15"),
    ]  # fmt: skip
    assert changed[0][2].startswith("10 at 0: <script>")
    assert changed[0][3].startswith(f"10 at {STEPS}: <script>")
    assert Markup(page).inline == []
    assert (
        "6 rows with a higher reward and fewer calls, 3 rows with a higher reward and more" in page
    )
    assert "2 rows with a lower reward and fewer calls, 0 rows with a lower reward and more" in page
    assert sorted(texts_of(page, "title")[1:]) == sorted(f"Row {row}" for row in range(12))
    dots = [part for part in page.split("<a ") if "<circle" in part]
    assert len(dots) == 12
    (worst,) = [dot for dot in dots if "Row 6<" in dot]
    assert f'href="/jobs/{job}/rows/report/6?before=0&amp;now={STEPS}"' in worst
    # The lowest change of both: the left and the lower end, with a margin.
    assert 'cx="60.4" cy="205.0"' in worst


async def test_rewards_on_no_common_scale_are_not_compared(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await trained(api, database)
    part = json.dumps({"judged_apart": ["grader"]})
    execute(database, "UPDATE reports SET report = report || %s::jsonb", (part,))
    page = (await visit.get(f"/jobs/{job}/report")).text
    assert "<circle" not in page
    assert "Answers that changed most" not in page
    assert len(rows_of(page, "Rows")) == 1 + len(REWARDS)
    assert len(rows_of(page, "Tokens and time")) == 3
