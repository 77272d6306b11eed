"""The samples of a run's rows, with reference log-probs where the loss needs them."""

from collections.abc import Sequence
from dataclasses import dataclass

from workers.learning.training_samples import TrainingSample
from workers.supervised.examples import Examples
from workers.supervised.reference_log_probs import ReferenceLogprobs


@dataclass(frozen=True, slots=True)
class Samples:
    train: Examples
    valid: Examples | None
    pairs: bool
    train_reference: ReferenceLogprobs | None = None
    """Log-probs of the model that training starts from, for a loss that compares with it."""
    valid_reference: ReferenceLogprobs | None = None

    def training(self, row: int) -> Sequence[TrainingSample]:
        return _of(self.train, self.train_reference, row)

    def held_out(self, row: int) -> Sequence[TrainingSample]:
        """Raises `ValueError` without a validation file."""
        if self.valid is None:
            raise ValueError("the job has no validation file")
        return _of(self.valid, self.valid_reference, row)


def _of(
    examples: Examples, reference: ReferenceLogprobs | None, row: int
) -> Sequence[TrainingSample]:
    example = examples[row]
    return (example if reference is None else reference.with_reference(row, example)).samples
