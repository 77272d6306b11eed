"""The page of a job's baseline: what each row's samples can teach."""

import pytest

from app.rollouts.rollouts import Baseline, BaselineRow
from tests.support.api.application import Api
from tests.support.cases import cases
from tests.support.dashboard.scenes import create_job, put_baseline
from tests.support.dashboard.visits import Visit, rows_of, texts_of
from tests.support.stack import Database


async def test_each_row_has_its_mean_and_its_spread(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api)
    empty = (await visit.get(f"/jobs/{job}/baseline")).text
    assert "There is no rollout of a validation before training" in empty
    put_baseline(database, job)
    page = (await visit.get(f"/jobs/{job}/baseline")).text
    assert rows_of(page, "Rows")[1:] == [
        ["3", "0.6667", "0.4714", "0", "1", "2 of 3", "1", "yes"],
        ["1", "0.25", "0.433", "0", "1", "1 of 4", "0", "yes"],
        ["0", "0", "0", "0", "0", "0 of 4", "0", "no"],
        ["2", "1", "0", "1", "1", "4 of 4", "0", "no"],
    ]
    facts = dict(zip(texts_of(page, "dt"), texts_of(page, "dd"), strict=True))
    assert facts["Rows that pass never"] == "1 25.0%"
    assert facts["Rows that pass sometimes"] == "2 50.0%"
    assert facts["Rows that pass always"] == "1 25.0%"
    # (0 + 1/4 + 1 + 2/3) / 4; of row 1, half of the pairs have the one that passes.
    assert (facts["pass@1"], facts["pass@2"], facts["pass@4"]) == ("47.9%", "62.5%", "66.7%")
    assert "There is something to learn. 2 of 4 rows have samples" in " ".join(texts_of(page, "p"))
    assert "1 more row lost every rollout" in page
    assert f"/jobs/{job}/rollouts?split=valid&amp;step=0&amp;row=3" in page
    lower = (await visit.get(f"/jobs/{job}/baseline?at_least=0")).text
    assert texts_of(lower, "dd")[:3] == ["0 0.0%", "0 0.0%", "4 100.0%"]
    assert (await visit.get(f"/jobs/{job}/baseline?at_least=nan")).status_code == 400
    assert "Baseline" in texts_of((await visit.get(f"/jobs/{job}")).text, "a")


async def test_lost_rollouts_alone_are_named(api: Api, visit: Visit, database: Database) -> None:
    job = await create_job(api)
    put_baseline(database, job, {0: (None, None)})
    page = (await visit.get(f"/jobs/{job}/baseline")).text
    assert "Every rollout before training was lost" in page


def row(number: int, *rewards: float) -> BaselineRow:
    mean = sum(rewards) / len(rewards)
    variance = sum((one - mean) ** 2 for one in rewards) / len(rewards)
    return BaselineRow(
        row=number, graded=len(rewards), passed=sum(one >= 1 for one in rewards), lost=0,
        mean=mean, deviation=variance**0.5, lowest=min(rewards), highest=max(rewards),
    )  # fmt: skip


@cases(
    ("rows", "verdict", "reason"),
    [
        ([], "unclear", "No rollout was graded."),
        ([row(0, 1.0, 1.0), row(1, 1.0, 1.0)], "nothing", "already passes"),
        ([row(0, 0.0), row(1, 1.0)], "unclear", "one graded sample"),
        ([row(0, 0.0, 0.0), row(1, 1.0, 1.0)], "nothing", "the same reward"),
        ([row(0, 0.1, 0.1 + 1e-12, 0.1)], "nothing", "No sample of any row passes"),
        ([row(n, 0.0, float(n == 0)) for n in range(11)], "little", "1 of 11 rows"),
        ([row(n, 0.0, float(n == 0)) for n in range(10)], "something", "1 of 10 rows"),
    ],
)
def test_the_verdict_follows_the_spread(rows: list[BaselineRow], verdict: str, reason: str) -> None:
    baseline = Baseline.of(rows)
    assert baseline.verdict == verdict
    assert reason in baseline.reason


def test_pass_at_k_is_the_share_of_draws_that_pass() -> None:
    one = row(0, 1.0, 0.0, 0.0, 0.0, 0.0)
    assert [one.pass_at(k) for k in (1, 2, 5)] == pytest.approx([0.2, 0.4, 1.0])
    assert one.pass_at(6) is None
    both = Baseline.of([one, row(1, 0.0, 0.0)])
    assert [k for k, _ in both.passes] == [1, 2, 4, 5]
    assert both.passes[0][1] == pytest.approx(0.1)
