"""The report on request: what rollouts did before and after, for any validated step."""

import pytest

from tests.support.api.application import Api
from tests.support.api.job_calls import JOBS
from tests.support.dashboard.scenes import STEPS, call, create_job, end, put_rollout, trace
from tests.support.stack import Database

LIST: dict[str, object] = {"name": "list"}
MADE_UP: dict[str, object] = {"name": "made_up", "error": "unknown_tool"}


def put(
    database: Database, job: str, split: str, step: int, row: int, reward: float,
    *calls: dict[str, object], seconds: float, sample: int = 0,
) -> None:  # fmt: skip
    put_rollout(
        database, job, f"{split}_{step}_{row}_{sample}", split=split, step=step, prompt_index=row,
        sample_index=sample, reward=reward, tool_calls=len(calls),
        completion_tokens=40 if step == 0 else 30, started_at=10.0, finished_at=10.0 + seconds,
        trace=trace("Q", "A", *(call("found", **values) for values in calls)),
    )  # fmt: skip


async def test_the_report_has_what_the_rollouts_did_before_and_after(
    api: Api, database: Database
) -> None:
    job = await create_job(api)
    put(database, job, "report", 0, 0, 0.0, {}, {"repeated": True}, {"repeated": True}, seconds=4)
    put(database, job, "report", 0, 1, 1.0, LIST, MADE_UP, seconds=8)
    put(database, job, "report", 0, 2, 0.5, {}, seconds=2)
    put(database, job, "report", STEPS, 0, 1.0, {}, LIST, seconds=3)
    put(database, job, "report", STEPS, 1, 0.5, LIST, {}, {}, seconds=5)
    put(database, job, "report", STEPS, 2, 0.5, {}, seconds=1)
    put(database, job, "report", STEPS, 3, 0.9, seconds=1)  # a row without a rollout before
    end(database, job)
    reply = await api.call("GET", f"{JOBS}/{job}/report?limit_s=4.5")
    assert reply.status_code == 200, reply.text
    found = reply.json()["before_after"]
    assert (found["split"], found["rows"], found["seconds_limit"]) == ("report", 3, 4.5)
    before, after = found["start"], found["tuned"]
    assert before["calls_by_tool"] == pytest.approx(
        {"(unknown)": 1 / 3, "list": 1 / 3, "search": 4 / 3}
    )
    assert after["calls_by_tool"] == pytest.approx({"list": 2 / 3, "search": 4 / 3})
    names = ("rollouts", "reward", "tool_calls", "repeated_calls", "completion_tokens")
    assert [before[name] for name in names] == pytest.approx([3, 0.5, 2, 2 / 3, 40])
    assert [after[name] for name in names] == pytest.approx([3, 2 / 3, 2, 0, 30])
    timed = ("seconds", "seconds_p50", "seconds_p95", "over_limit")
    # The 95th percentile of 2, 4 and 8 is 0.9 of the way from 4 to 8.
    assert [before[name] for name in timed] == pytest.approx([14 / 3, 4, 7.6, 1 / 3])
    assert [after[name] for name in timed] == pytest.approx([3, 3, 4.8, 1 / 3])
    assert found["completion_tokens"]["difference"] == -10
    third = pytest.approx(1 / 3)
    assert found["loops"] == [{"tools": ["search"] * 3, "start": third, "tuned": 0}]
    assert found["sequences"] == [
        {"tools": ["search", "search"], "start": third, "tuned": third},
        {"tools": ["list", "(unknown)"], "start": third, "tuned": 0},
        {"tools": ["list", "search"], "start": 0, "tuned": third},
        {"tools": ["search", "list"], "start": 0, "tuned": third},
    ]
    assert found["quadrant"] == {
        "better_fewer_calls": 1, "better_more_calls": 0, "worse_fewer_calls": 0,
        "worse_more_calls": 1, "unchanged": 1,
    }  # fmt: skip
    points = [(one["start_seconds"], one["tuned_seconds"]) for one in found["by_row"]]
    assert points == [(4, 3), (8, 5), (2, 1)]
    unlimited = (await api.call("GET", f"{JOBS}/{job}/report")).json()["before_after"]
    assert unlimited["seconds_limit"] == pytest.approx(7.6)


async def test_any_validated_step_has_a_report_while_the_job_runs(
    api: Api, database: Database
) -> None:
    job = await create_job(api)
    report = f"{JOBS}/{job}/report"
    early = await api.call("GET", f"{report}?step=4")
    assert (early.status_code, early.json()["error"]["code"]) == (404, "no_rollouts")
    for row in range(12):
        put(database, job, "valid", 0, row, 0.25, {}, {}, seconds=4)
        for sample, reward in enumerate((0.0 if row == 11 else 0.5, 0.0 if row == 11 else 1.0)):
            put(database, job, "valid", 4, row, reward, {}, seconds=2, sample=sample)
    found = (await api.call("GET", f"{report}?step=4")).json()
    assert [found[name] for name in ("step", "rows", "wins", "ties", "losses")] == [4, 12, 11, 0, 1]
    assert found["regressions"] == [{"row": 11, "before": 0.25, "after": 0.0}]
    # Eleven rows rise from 0.25 to 0.75, one falls to 0.
    assert found["reward"]["start_mean"] == 0.25
    assert found["reward"]["difference"] == pytest.approx(5.25 / 12)
    assert found["verdict"] == "gain"
    assert found["tool_calls"]["difference"] == -1
    assert found["before_after"]["split"] == "valid"
    assert found["before_after"]["tuned"]["rollouts"] == 24
    refused = (await api.call("GET", f"{report}?step=3")).json()["error"]
    assert refused["param"] == "step"
    assert refused["message"] == (
        "Invalid value for 'step': step 3 was not validated; those that were: 4."
    )
    before = (await api.call("GET", f"{report}?step=0")).json()["error"]
    assert before["param"] == "step"
