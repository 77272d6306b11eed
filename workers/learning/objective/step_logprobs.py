"""The log-probs that the forward passes of a step computed, by sample.

Costs no pass of its own and one copy from the device for each micro-batch. A micro-batch is added
when its gradient is, so that one that ran out of memory and was repeated counts once. Must not know
losses or optimizers.
"""

from collections.abc import Sequence

from workers.learning.batches.batches import MicroBatch
from workers.learning.objective.scored_batch import ScoredBatch


class StepLogprobs:
    def __init__(self) -> None:
        self._rows: list[list[float] | None] = []
        """Log-probs of the trained tokens of each sample, `None` until it is computed."""

    def reserve(self, count: int) -> range:
        """Makes places for so many samples, and returns their numbers."""
        start = len(self._rows)
        self._rows += [None] * count
        return range(start, start + count)

    def add(self, batch: MicroBatch, scored: ScoredBatch, places: Sequence[int]) -> None:
        """Adds a micro-batch; `places` are the numbers of the samples that it was packed from."""
        rows: list[list[float]] = [[] for _ in batch.sources]
        logprobs: list[float] = scored.scores.logprobs_N.detach().tolist()
        for row, logprob in zip(batch.rows_N.tolist(), logprobs, strict=True):
            rows[row].append(logprob)
        for source, row_logprobs in zip(batch.sources, rows, strict=True):
            self._rows[places[source]] = row_logprobs

    def taken(self) -> list[list[float] | None]:
        """Returns all log-probs, and forgets them."""
        rows, self._rows = self._rows, []
        return rows
