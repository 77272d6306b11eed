"""The trainer's interface: samples in, a better adapter out.

Owns what a run may ask of a trainer. Promises: only plain data crosses it (numbers, lists,
`TrainingSample`, paths of directories both sides can read), so an implementation may compute in
other processes, e.g. under torchrun. Must not know torch, models or how gradients are computed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from workers.learning.trainer_settings import TrainerSettings
from workers.learning.training_samples import TrainingSample

UpdateStats = dict[str, float]
"""Curve values by name of `app.domain.rollouts.metrics`."""


class Trainer(Protocol):
    """One LoRA adapter over a frozen base model, with its optimizer.

    Calls block until they are done and are made one at a time, each from a worker thread. Only
    `close` may be called while another call runs.
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
        """Adds the gradient sum of some of a step's samples; `step` divides and applies it."""
        ...

    def step(self, denominator: int | None = None) -> UpdateStats:
        """Takes one optimizer step on everything accumulated since the last one, or none if that
        is nothing. `denominator` replaces the trained tokens of what was accumulated.
        """
        ...

    def evaluate(self, sets: Sequence[Sequence[TrainingSample]]) -> list[UpdateStats]:
        """Returns the values `update` would report for each set alone, without training."""
        ...

    def logprobs(self, token_ids: Sequence[int], *, adapter: bool = True) -> list[float]:
        """Log-probs of tokens 1 … T-1 given the tokens before each, at the trainer's temperature:
        one fewer than there are tokens. `adapter=False` evaluates the base model.
        """
        ...

    def reference_logprobs(self, samples: Sequence[TrainingSample]) -> list[list[float]]:
        """Log-probs under the model that training started from, at the trainer's temperature.

        Parallel to the samples and their tokens; 0.0 where a token is not trained.
        """
        ...

    def save_adapter(self, directory: Path) -> None:
        """Writes the adapter as stock PEFT files with a manifest. Raises `FileExistsError`."""
        ...

    def save_state(self, directory: Path) -> None:
        """Writes everything a resume needs, with a manifest. Raises `FileExistsError`."""
        ...

    def load_state(self, directory: Path) -> None:
        """Continues where `save_state` was called. Raises `ManifestMismatch` when a file is not as
        written and `StateMismatch` when the state is another run's; nothing is changed then.
        """
        ...

    def close(self) -> None:
        """Releases the processes of a trainer that has any. Call once, at the end; a call that
        still runs in another thread may then fail.
        """
        ...
