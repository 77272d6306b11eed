"""The rows of the report's page that became better, stayed or became worse."""

from app.pages.plots import Pair
from app.rollouts.rollouts import RowMean
from tests.support.cases import cases


def _mean(step: int, reward: float) -> RowMean:
    return RowMean(
        prompt_index=0, step=step, rollouts=3, graded=3, reward=reward, tool_calls=0.0,
        deviation=0.0, lowest=reward, highest=reward, completion_tokens=7.0, duration_s=2.5,
    )  # fmt: skip


@cases(
    ("after", "outcome"),
    [
        # The database's mean of 0.3, 0.2 and 0.1, and of the same in another order.
        (0.20000000000000004, "tie"),
        (0.2 + 2e-9, "win"),
        (0.2 - 2e-9, "loss"),
    ],
)
def test_a_rounding_error_is_a_tie(after: float, outcome: str) -> None:
    pair = Pair(0, _mean(0, 0.19999999999999998), _mean(10, after))
    assert pair.outcome == outcome
    assert (pair.difference == 0) == (outcome == "tie")
