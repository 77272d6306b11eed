"""What a trainer is asked for: its interface, and the options that rarely differ between jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch

from workers.learning.mismatch import MismatchConfig
from workers.learning.training_samples import TrainingSample
from workers.learning.update_stats import UpdateStats


class Trainer(Protocol):
    """What schedulers and publishers need of a trainer."""

    def update(self, samples: Sequence[TrainingSample]) -> UpdateStats: ...

    def accumulate(self, samples: Sequence[TrainingSample]) -> None: ...

    def step(self, denominator: int | None = None) -> UpdateStats: ...

    def logprobs(self, token_ids: Sequence[int], *, adapter: bool = True) -> list[float]: ...

    def save_adapter(self, directory: Path) -> None: ...

    def save_state(self, directory: Path) -> None: ...

    def load_state(self, directory: Path) -> None: ...


@dataclass(frozen=True, slots=True)
class TrainerOptions:
    """What rarely differs between jobs."""

    loss: str = "ppo"
    loss_options: dict[str, Any] = field(default_factory=dict)
    device: str | None = None
    """`None` takes CUDA when there is one."""
    dtype: torch.dtype | None = None
    """Of the frozen base; `None` is fp32 on a CPU and bf16 on CUDA. The adapter is fp32 always."""
    threads: int | None = None
    """Intra-op CPU threads, for the whole process; `None` leaves torch's setting."""
    minibatches: int = 1
    """Optimizer steps per update, each over every `minibatches`-th sample."""
    max_batch_tokens: int | None = None
    """Tokens in a micro-batch; `None` is 4,096 on a CPU and 32,768 on CUDA."""
    checkpointing: bool = False
    """Compute layers again in backward instead of keeping what they computed: long sequences."""
    mismatch: MismatchConfig | None = None
    """What is done about tokens of another policy; `None` for losses of text nobody sampled."""
    kl_coefficient: float = 0.0
    """Pull towards the model that training starts from, see `base_distance`; 0 is none and costs
    nothing."""
    start: Path | None = None
    """Directory of the adapter that training starts from, of the same rank and alpha; `None` is the
    bare base."""

    def __post_init__(self) -> None:
        truncates = self.mismatch is not None and self.mismatch.truncation is not None
        if truncates and self.minibatches > 1:
            raise ValueError("truncation takes the policy before the step: minibatches must be 1")
