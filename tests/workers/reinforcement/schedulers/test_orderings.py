"""The rows of a step as a pure function: what each ordering changes, and what none does."""

from collections import Counter
from collections.abc import Mapping

import pytest

from app.jobs.learning import AnyOrdering, EasyToHardOrdering, FocusOrdering, UniformOrdering
from app.rollouts.rollouts import PlayedRow
from tests.support.cases import cases
from workers.methods.reinforcement.rows import RowOrder, RowPassRates, StepSizes
from workers.runs.opening import rows_of_step

SIZES = StepSizes(row_count=22, batch_size=5)
RATES = {row: row / 21 for row in range(22)}
"""Row 21 is always solved, row 0 never."""


def order(ordering: AnyOrdering, pass_rates: RowPassRates | None = None) -> RowOrder:
    return RowOrder(ordering, SIZES, 7, pass_rates or RowPassRates(None, {}))


def played(rates: Mapping[int, float]) -> list[PlayedRow]:
    """Returns two rollouts of each row, and a lost one."""
    return [
        PlayedRow(row, reward)
        for row, rate in rates.items()
        for reward in (rate - 0.25, rate + 0.25, None)
    ]


def run(ordering: AnyOrdering, steps: int, rates: Mapping[int, float] = RATES) -> list[list[int]]:
    """Returns the rows of each step when every row has the given pass rate."""
    pass_rates = RowPassRates(None, {})
    by_step = []
    for step in range(1, steps + 1):
        by_step.append(order(ordering, pass_rates).rows(step))
        pass_rates.add(step, played({row: rates[row] for row in by_step[-1]}))
    return by_step


@cases("ordering", [UniformOrdering(), EasyToHardOrdering(), FocusOrdering()])
def test_every_step_has_its_size_and_each_row_once(ordering: AnyOrdering) -> None:
    by_step = run(ordering, 15)
    assert [len(rows) for rows in by_step] == [5, 5, 5, 5, 2] * 3
    assert [SIZES.size(step) for step in range(1, 16)] == [5, 5, 5, 5, 2] * 3
    assert all(len(set(rows)) == len(rows) for rows in by_step)
    assert run(ordering, 15) == by_step


def test_uniform_is_the_order_of_before() -> None:
    assert run(UniformOrdering(), 10) == [
        rows_of_step(step, seed=7, row_count=22, batch_size=5) for step in range(1, 11)
    ]


def test_easy_rows_come_first_once_they_were_measured() -> None:
    by_step = run(EasyToHardOrdering(), 10)
    first, second = (
        [row for rows in epoch for row in rows] for epoch in (by_step[:5], by_step[5:])
    )
    assert sorted(first) == list(range(22))
    assert second == list(range(21, -1, -1))
    assert first != second


def test_the_difficulty_in_the_file_counts_before_a_row_is_played() -> None:
    pass_rates = RowPassRates(None, {3: 1.0, 4: 0.9, 5: 0.0})
    order_of = order(EasyToHardOrdering(), pass_rates)
    assert order_of.rows(1)[:2] == [3, 4]
    pass_rates.add(1, [PlayedRow(5, 1.0), PlayedRow(3, 0.0)])
    assert order_of.rows(1)[:2] == [3, 4], "the order of a pass is decided at its beginning"
    for step in range(2, 6):
        pass_rates.add(step, [])
    assert order_of.rows(6)[:2] == [5, 4]
    assert order_of.rows(10)[-1] == 3


def test_focus_practises_the_rows_between_its_limits() -> None:
    by_step = run(FocusOrdering(), 65)
    counts = Counter(row for rows in by_step[5:] for row in rows)
    inside = [row for row, rate in RATES.items() if 0.2 <= rate <= 0.8]
    outside = [row for row in RATES if row not in inside]
    practised = sum(counts[row] for row in inside)
    assert practised > 3 * sum(counts[row] for row in outside)
    assert min(counts[row] for row in outside) > 0, "they are measured anew"
    assert max(counts[row] for row in inside) < 2 * min(counts[row] for row in inside)


def test_focus_follows_a_row_that_was_learned() -> None:
    learned = dict.fromkeys(range(22), 0.0) | {0: 0.5, 1: 0.5}
    pass_rates, ordering = RowPassRates(None, {}), FocusOrdering()
    counts = [0, 0]
    for step in range(1, 61):
        rows = order(ordering, pass_rates).rows(step)
        counts[step > 30] += 0 in rows
        rates = learned | ({0: 1.0} if step > 30 else {})
        pass_rates.add(step, played({row: rates[row] for row in rows}))
    assert counts[0] > 3 * counts[1] > 0


@cases("batch_size", [1, 2, 3, 5, 11])
def test_steps_of_any_size_measure_their_share_together(batch_size: int) -> None:
    """Rows 0 to 17 can be learned; the others are always or never solved. All are known."""
    sizes = StepSizes(row_count=24, batch_size=batch_size)
    rates = dict.fromkeys(range(18), 0.5) | {row: float(row % 2) for row in range(18, 24)}
    pass_rates = RowPassRates(None, rates)
    counts = Counter[int]()
    for step in range(1, 4 * sizes.steps_per_epoch + 1):
        rows = RowOrder(FocusOrdering(), sizes, 7, pass_rates).rows(step)
        counts.update(rows)
        pass_rates.add(step, played({row: rates[row] for row in rows}))
    assert sum(counts[row] for row in range(18)) == 72
    assert sum(counts[row] for row in range(18, 24)) == 24
    assert max(counts.values()) - min(counts.values()) <= 1


def test_a_row_whose_rollouts_are_always_lost_waits_its_turn() -> None:
    pass_rates, lost = RowPassRates(None, {}), 5
    counts = Counter[int]()
    for step in range(1, 51):
        rows = order(FocusOrdering(), pass_rates).rows(step)
        counts.update(rows)
        others = played({row: RATES[row] for row in rows if row != lost})
        pass_rates.add(step, [*others, *(PlayedRow(row, None) for row in rows if row == lost)])
    outside = [counts[row] for row, rate in RATES.items() if not 0.2 <= rate <= 0.8]
    assert counts[lost] <= max(outside) + 1
    known = pass_rates.as_of(50)
    assert (known[lost].pass_rate, known[lost].step > 0) == (None, True)


def test_a_row_that_is_lost_once_keeps_its_pass_rate() -> None:
    pass_rates = RowPassRates(None, {})
    pass_rates.add(1, [PlayedRow(0, 0.5)])
    pass_rates.add(2, [PlayedRow(0, None), PlayedRow(0, None)])
    assert (pass_rates.as_of(2)[0].step, pass_rates.as_of(2)[0].pass_rate) == (2, 0.5)


def test_a_pass_reward_decides_what_counts_as_passed() -> None:
    pass_rates = RowPassRates(0.9, {})
    pass_rates.add(1, [PlayedRow(0, 0.89), PlayedRow(0, 0.9), PlayedRow(1, 5.0)])
    assert {row: one.pass_rate for row, one in pass_rates.as_of(1).items()} == {0: 0.5, 1: 1.0}
    assert pass_rates.as_of(0) == {}


def test_rows_that_are_not_known_yet_are_refused() -> None:
    with pytest.raises(RuntimeError, match="step 1 is not committed"):
        order(FocusOrdering()).rows(2)
    ahead = RowOrder(FocusOrdering(), SIZES, 7, RowPassRates(None, {}), lag=1)
    assert len(ahead.rows(2)) == 5


@cases(("lag", "least"), [(0, 13), (1, 12), (2, 11)])
def test_focus_repeats_no_row_before_the_step_that_played_it_is_known(lag: int, least: int) -> None:
    """48 rows are practised, 6 of them in a step, so nothing forces a step to repeat one that is
    not committed yet; and no row is left out.
    """
    rates = {row: 0.5 if row < 48 else 0.0 for row in range(96)}
    pass_rates = RowPassRates(None, rates)
    order_of = RowOrder(FocusOrdering(), StepSizes(96, 8), 7, pass_rates, lag=lag)
    by_step = list[list[int]]()
    for step in range(1, 121):
        if (committed := step - 1 - lag) > 0:
            rows = by_step[committed - 1]
            pass_rates.add(committed, [PlayedRow(row, rates[row]) for row in rows])
        by_step.append(order_of.rows(step))
    for at, rows in enumerate(by_step):
        before = {row for earlier in by_step[max(0, at - lag - 1) : at] for row in earlier}
        assert before.isdisjoint(rows)
    times = Counter(row for rows in by_step for row in rows)
    assert sum(times[row] for row in range(48)) == 120 * 6
    assert min(times[row] for row in range(48)) >= least
    assert min(times[row] for row in range(48, 96)) >= 3
