from app.jobs.jobs import Checkpoint
from app.jobs.results import best_first, kept_steps
from app.jobs.stop_options import KeepCheckpoints
from tests.support.cases import cases

OF_PAIRS = ("full_valid_loss", "full_valid_preference_accuracy", "full_valid_chosen_change")
REWARDS = {2: 0.5, 4: 0.9, 6: None, 8: 0.9, 10: 0.7, 12: 0.1}


def _checkpoints(
    values: dict[int, float | None], name: str = "full_valid_mean_reward"
) -> list[Checkpoint]:
    return [
        Checkpoint(f"c{step}", "j", step, 0, f"m{step}", {} if value is None else {name: value})
        for step, value in values.items()
    ]


def test_the_better_validation_comes_first_and_of_equals_the_earlier() -> None:
    assert [checkpoint.step for checkpoint in best_first(_checkpoints(REWARDS))] == [
        4,
        8,
        10,
        2,
        12,
    ]
    losses = _checkpoints(REWARDS, "full_valid_loss")
    assert [checkpoint.step for checkpoint in best_first(losses)] == [12, 2, 10, 4, 8]


def test_pairs_rank_by_accuracy_once_preferred_answers_are_as_probable_as_at_the_start() -> None:
    measured = {  # step: loss, accuracy, change of the preferred answers' log-prob
        1: (0.6, 0.7, 0.2),
        2: (0.5, 0.8, 0.0),
        3: (0.4, 0.8, 0.1),
        4: (0.1, 1.0, -3.0),
        5: (0.2, 0.9, -0.5),
    }
    checkpoints = [
        Checkpoint(f"c{step}", "j", step, 0, f"m{step}", dict(zip(OF_PAIRS, values, strict=True)))
        for step, values in measured.items()
    ]
    assert [one.step for one in best_first(checkpoints)] == [3, 2, 1, 5, 4]


@cases(
    ("keep", "needed", "kept"),
    [
        (KeepCheckpoints(), (), [4, 8, 10, 12]),
        (KeepCheckpoints(best=1, last=0), (), [4]),
        (KeepCheckpoints(best=1, last=2), (), [4, 10, 12]),
        (KeepCheckpoints(best=1, last=1), (6, 99), [4, 6, 12]),
        (KeepCheckpoints(best=50, last=0), (), [2, 4, 8, 10, 12]),
    ],
)
def test_the_best_the_newest_and_the_needed_stay(
    keep: KeepCheckpoints, needed: tuple[int, ...], kept: list[int]
) -> None:
    assert kept_steps(_checkpoints(REWARDS), keep, needed=needed) == kept


def test_without_validation_the_newest_stay() -> None:
    never = _checkpoints(dict.fromkeys(range(1, 8)))
    assert best_first(never) == []
    assert kept_steps(never, KeepCheckpoints()) == [5, 6, 7]
    assert kept_steps(never, KeepCheckpoints(best=1, last=2)) == [6, 7]
    assert kept_steps([], KeepCheckpoints()) == []
