"""The interface between a run and its trainer.

Owns the calls that a run makes. Promises: arguments and results are plain data (numbers, lists,
`TrainingSample`, paths of directories that both sides can read), so an implementation may compute
in other processes, e.g. under torchrun. Must not know torch, models or the computation of
gradients.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from workers.learning.trainer_settings import TrainerSettings
from workers.learning.training_samples import TrainingSample

UpdateStats = dict[str, float]
"""Curve values by their names in `app.domain.rollouts.metrics`."""


class Trainer(Protocol):
    """One LoRA adapter over a frozen base model, with its optimizer.

    Calls block until they finish. They are made one at a time, each from a worker thread; only
    `close` may be called during another call.
    """

    @property
    def settings(self) -> TrainerSettings:
        """The settings under which the state is saved."""
        ...

    @property
    def steps(self) -> int:
        """Optimizer steps taken since the adapter was created."""
        ...

    @property
    def accelerators(self) -> int:
        """Number of GPUs in use; 0 on a machine without one."""
        ...

    def update(self, samples: Sequence[TrainingSample]) -> UpdateStats:
        """Takes one optimizer step (or as many as the trainer's `minibatches`) on `samples`.

        A step whose loss or gradient is not finite is skipped and counted, and leaves adapter and
        optimizer as they were. Means among the returned curve values are over trained tokens.
        """
        ...

    def accumulate(self, samples: Sequence[TrainingSample]) -> None:
        """Adds the gradient sum of a part of a step's samples; `step` divides and applies it."""
        ...

    def step(self, denominator: int | None = None) -> UpdateStats:
        """Takes one optimizer step on all samples accumulated since the last one, or none if
        no sample has a gradient. `denominator` replaces their number of trained tokens or pairs.
        """
        ...

    def trained_logprobs(self) -> list[list[float] | None]:
        """Returns what the last step computed, parallel to the samples of its `update`, or of its
        calls of `accumulate` in their order: the log-probs of each sample's trained tokens before
        the optimizer step (of its minibatch), `None` for a sample without a gradient. Forgets them.
        """
        ...

    def evaluate(
        self, sets: Sequence[Sequence[TrainingSample]], *, adapter: bool = True
    ) -> list[UpdateStats]:
        """Returns for each set the values that `update` would report for it, without training.
        `adapter=False` evaluates the base model.
        """
        ...

    def logprobs(self, token_ids: Sequence[int], *, adapter: bool = True) -> list[float]:
        """Returns the T-1 log-probs of tokens 1 … T-1, each given the tokens before it, at the
        trainer's temperature. `adapter=False` evaluates the base model.
        """
        ...

    def reference_logprobs(self, samples: Sequence[TrainingSample]) -> list[list[float]]:
        """Returns log-probs under the model that training started from, at the trainer's
        temperature.

        The lists are parallel to the samples and their tokens; untrained tokens get 0.0.
        """
        ...

    def save_adapter(self, directory: Path) -> None:
        """Writes the adapter as stock PEFT files with a manifest. Raises `FileExistsError`."""
        ...

    def save_state(self, directory: Path) -> None:
        """Writes all state that a resume requires, with a manifest. Raises `FileExistsError`."""
        ...

    def load_state(self, directory: Path) -> None:
        """Restores the state that `save_state` wrote. Raises `ManifestMismatch` if a file was
        changed and `StateMismatch` if the state has other settings; the trainer is unchanged then.
        """
        ...

    def close(self) -> None:
        """Ends the trainer's processes, if it has any. Call once, at the end; a call that still
        runs in another thread may fail.
        """
        ...
