from typing import Literal

import pytest

from app.jobs.supervised import DpoMethod, SupervisedMethod, resolve_supervised_hyperparameters
from app.models.models import BaseModelSpec
from tests.support.cases import cases
from workers.methods.supervised.examples import SupervisedPlan

BASE = BaseModelSpec(name="tiny", path="x", context_length=64, learning_rate=2e-4)


def _plan(rows: int, valid: int, **hyper: object) -> SupervisedPlan:
    method = SupervisedMethod.model_validate({"hyperparameters": hyper})
    found = resolve_supervised_hyperparameters(method, train_rows=rows, base_model=BASE)
    return SupervisedPlan(found, rows, valid, seed=3)


def test_every_epoch_takes_every_row_once_and_ends_with_a_checkpoint() -> None:
    plan = _plan(25, 0, batch_size=10, n_epochs=2)
    assert plan.total_steps == 6
    assert [step for step in range(1, 7) if plan.ends_epoch(step)] == [3, 6]
    for first in (1, 4):
        rows = [row for step in range(first, first + 3) for row in plan.rows(step)]
        assert sorted(rows) == list(range(25))
    assert not any(plan.looks_at_some(step) for step in range(1, 7)), "no validation file"


def test_some_held_out_rows_are_looked_at_ten_times_an_epoch() -> None:
    plan = _plan(100, 30, batch_size=2, n_epochs=2)
    looked = [step for step in range(1, 101) if plan.looks_at_some(step)]
    assert looked == list(range(5, 101, 5))
    assert len(plan.some_held_out(5)) == 2
    assert set(plan.some_held_out(5)) <= set(range(30))


def test_a_batch_is_no_larger_than_the_file() -> None:
    plan = _plan(10, 12, batch_size=256, n_epochs=1)
    assert (plan.total_steps, len(plan.rows(1)), len(plan.some_held_out(1))) == (1, 10, 10)


@cases(
    ("sent", "rate", "beta"),
    [({}, 2.5e-5, 0.1), ({"learning_rate_multiplier": 0.5, "beta": 1.5}, 1.25e-5, 1.5)],
)
def test_what_is_sent_is_used(sent: dict[str, object], rate: float, beta: float) -> None:
    method = DpoMethod.model_validate({"hyperparameters": sent})
    found = resolve_supervised_hyperparameters(method, train_rows=10, base_model=BASE)
    assert found.learning_rate == pytest.approx(rate)
    assert found.beta == beta
    assert found.n_epochs == 10


def test_each_method_has_a_rate_of_its_own() -> None:
    kinds: tuple[Literal["reinforcement", "supervised", "dpo"], ...] = (
        "reinforcement",
        "supervised",
        "dpo",
    )
    untouched = BaseModelSpec(name="tiny", path="x", context_length=64)
    assert [untouched.rate_of(kind) for kind in kinds] == pytest.approx([4e-5, 2e-4, 5e-6])
    own = BASE.model_copy(update={"supervised_learning_rate": 0.5, "dpo_learning_rate": 0.25})
    assert [own.rate_of(kind) for kind in kinds] == [2e-4, 0.5, 0.25]
    method = SupervisedMethod.model_validate({"hyperparameters": {"learning_rate_multiplier": 3}})
    found = resolve_supervised_hyperparameters(method, train_rows=10, base_model=untouched)
    assert found.learning_rate == pytest.approx(6e-4)
