"""The baseline of an eval run: the spread of the scores over the samples of each item. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from app.domain.evals.evals import ItemStatus
from app.domain.rollouts.baselines import Baseline, BaselineRow


@dataclass(frozen=True, slots=True)
class SampleScore:
    """One sample of an item, and its score by each criterion."""

    index: int
    status: ItemStatus
    scores: Sequence[float]


def run_baseline(samples: Iterable[SampleScore]) -> Baseline:
    """Returns the baseline. The reward of a sample is the mean of its criteria's scores, and it
    passes where all criteria do.
    """
    by_item: dict[int, list[SampleScore]] = {}
    for sample in samples:
        by_item.setdefault(sample.index, []).append(sample)
    rows = list[BaselineRow]()
    for index, taken in by_item.items():
        graded = [one for one in taken if one.status != "error" and one.scores]
        if graded:
            rewards = [fmean(one.scores) for one in graded]
            passed = sum(one.status == "pass" for one in graded)
            lost = len(taken) - len(graded)
            rows.append(BaselineRow.of(index, rewards, passed=passed, lost=lost))
    return Baseline.of(rows, all_lost=len(by_item) - len(rows))
