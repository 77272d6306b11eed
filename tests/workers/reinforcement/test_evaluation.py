"""The paired report, from the ledger of a real database."""

import pytest

from app.jobs.reinforcement import Evaluation, ReinforcementMethod
from app.rollouts.trajectory import ScoredRollout
from tests.support.reinforcement.scored_rollouts import scored, tool_call
from tests.support.runs.world import World
from workers.methods.reinforcement.evaluation import NoReport, build_report
from workers.runs.context import RunContext
from workers.runs.method import ChosenAdapter
from workers.runs.reporter import rollout_row


def published(step: int) -> ChosenAdapter:
    return ChosenAdapter(step, f"adapters/{step}", among=1)


SAMPLED = Evaluation(samples=1, temperature=1.0, greedy=True)
ROWS = 230
"""More than a page."""


def _side(context: RunContext, step: int, score: float | None, calls: int) -> list[ScoredRollout]:
    return [
        scored(
            ("report", step, row, 0),
            None if row == 0 else score,
            job_id=context.job.id,
            calls=(tool_call(),) * calls,
            components={"exact": score or 0.0},
        )
        for row in range(ROWS)
    ]


def _method(context: RunContext) -> ReinforcementMethod:
    assert isinstance(context.method, ReinforcementMethod)
    return context.method


async def _write(context: RunContext, rollouts: list[ScoredRollout]) -> None:
    rows = [rollout_row(rollout, project_id=context.job.project_id) for rollout in rollouts]
    async with context.unit() as unit:
        await unit.rollouts.insert_many(context.job.id, rows)


async def test_every_row_that_was_graded_twice_counts(world: World) -> None:
    context = await world.context(await world.job())
    await _write(context, _side(context, 0, 0.25, calls=4))
    await _write(context, _side(context, 5, 0.0, calls=9))  # a checkpoint in between
    await _write(context, _side(context, 9, 0.75, calls=1))
    report = await build_report(context, _method(context), SAMPLED, published(9))
    assert (report["job_id"], report["base_model"], report["step"]) == (
        context.job.id,
        "tiny-2026",
        9,
    )
    assert (report["rows"], report["wins"], report["ties"], report["losses"]) == (229, 229, 0, 0)
    assert report["reward"]["difference"] == pytest.approx(0.5)
    assert report["tool_calls"]["difference"] == pytest.approx(-3.0)
    assert report["components"]["exact"]["tuned_mean"] == pytest.approx(0.75)
    assert report["greedy"] is None, "no greedy rollout was graded"


async def test_no_row_graded_twice_makes_no_report(world: World) -> None:
    context = await world.context(await world.job())
    await _write(context, _side(context, 0, 0.25, calls=1))
    await _write(context, _side(context, 9, None, calls=1))
    with pytest.raises(NoReport, match="100% of the rollouts of step 9 were lost"):
        await build_report(context, _method(context), SAMPLED, published(9))


async def test_a_few_rows_that_are_left_are_not_taken_for_all(world: World) -> None:
    context = await world.context(await world.job())
    await _write(context, _side(context, 0, 0.25, calls=1))
    most = ROWS * 3 // 4
    tuned = _side(context, 9, None, calls=1)[:most] + _side(context, 9, 1.0, calls=1)[most:]
    await _write(context, tuned)
    assert (await build_report(context, _method(context), SAMPLED, published(9)))[
        "wins"
    ] == ROWS - most, "74% lost"
    await _write(context, _side(context, 10, None, calls=1)[: most + 1])
    await _write(context, _side(context, 10, 1.0, calls=1)[most + 1 :])
    with pytest.raises(NoReport, match="75% of the rollouts of step 10 were lost"):
        await build_report(context, _method(context), SAMPLED, published(10))


async def test_a_start_that_lost_its_rollouts_is_not_compared(world: World) -> None:
    context = await world.context(await world.job())
    most = ROWS * 3 // 4
    start = (
        _side(context, 0, None, calls=1)[: most + 1] + _side(context, 0, 0.0, calls=1)[most + 1 :]
    )
    await _write(context, start)
    await _write(context, _side(context, 9, 1.0, calls=1))
    with pytest.raises(NoReport, match="75% of the rollouts of step 0 were lost"):
        await build_report(context, _method(context), SAMPLED, published(9))
