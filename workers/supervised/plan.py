"""The arithmetic of a supervised or preference run, fixed once its files are validated. Pure.

The learning rate is the same at every step, as in reinforcement runs: an adapter that starts at
zero needs no warm-up, and a decaying rate would depend on where a run is ended early or continued
by another job.
"""

from dataclasses import dataclass
from typing import Final

from app.domain.methods.supervised import ResolvedSupervisedHyperparameters
from workers.runs.steps.row_order import rows_of_step

_VALIDATIONS_PER_EPOCH: Final = 10


@dataclass(frozen=True, slots=True)
class SupervisedPlan:
    hyperparameters: ResolvedSupervisedHyperparameters
    train_rows: int
    valid_rows: int
    """Number of validation rows; 0 without a validation file."""
    seed: int

    @property
    def total_steps(self) -> int:
        return self.hyperparameters.total_steps

    def ends_epoch(self, step: int) -> bool:
        """Returns whether a step ends an epoch: it then validates on all held-out rows and becomes
        a checkpoint.
        """
        return step % self.hyperparameters.steps_per_epoch == 0

    def looks_at_some(self, step: int) -> bool:
        """Returns whether a step measures a few held-out rows: about ten steps per epoch do, and
        the last one.
        """
        position = (step - 1) % self.hyperparameters.steps_per_epoch + 1
        every = max(1, self.hyperparameters.steps_per_epoch // _VALIDATIONS_PER_EPOCH)
        return bool(self.valid_rows) and (position % every == 0 or self.ends_epoch(step))

    def rows(self, step: int) -> list[int]:
        """Returns the rows of a step. They depend on seed and step only, so a resume needs no
        cursor.
        """
        return rows_of_step(
            step,
            seed=self.seed,
            row_count=self.train_rows,
            batch_size=self.hyperparameters.batch_size,
        )

    def some_held_out(self, step: int) -> list[int]:
        """Returns the few held-out rows of a step, as many as a batch has rows."""
        return rows_of_step(
            step,
            seed=self.seed,
            row_count=self.valid_rows,
            batch_size=min(self.hyperparameters.batch_size, self.valid_rows),
        )
