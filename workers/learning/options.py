"""Options of `LoraTrainer` that rarely differ between jobs; no tensors."""

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from app.jobs.modes import MAX_LOG_RATIO
from app.models.compute import ComputeChoice, Products
from app.models.models import BaseModelSpec, TrainerMemory


@dataclass(frozen=True, slots=True)
class MismatchConfig:
    """Options of `correct`; by default only the bound on log-ratios applies. Raises `ValueError`
    unless 0 ≤ low ≤ 1 ≤ high with low < high for the band, and for a cap or bound out of range.
    """

    truncation: Literal["token", "sequence"] | None = None
    cap: float = 2.0
    sequence_mask: Literal["geometric_mean", "product"] | None = None
    band: tuple[float, float] = (0.99, 1.01)
    max_log_ratio: float = MAX_LOG_RATIO

    def __post_init__(self) -> None:
        low, high = self.band
        if not 0 <= low <= 1 <= high or low == high:
            raise ValueError(
                "the band must contain 1, have two different bounds and not be negative"
            )
        if self.cap < 1:
            raise ValueError("cap must be at least 1")
        if not 0 < self.max_log_ratio <= MAX_LOG_RATIO:
            raise ValueError(f"max_log_ratio must be positive and at most {MAX_LOG_RATIO}")


Precision = Literal["float32", "bfloat16", "float64"]
CPU_BATCH_TOKENS: Final = 4096


@dataclass(frozen=True, slots=True)
class TrainerOptions:
    """Options with defaults. Raises `ValueError` for truncation with more than one minibatch."""

    loss: str = "ppo"
    loss_options: dict[str, Any] = field(default_factory=dict)
    device: str | None = None
    dtype: Precision | None = None
    """Precision of the frozen base; `None` selects fp32 on a CPU and bf16 on CUDA. The adapter is
    always fp32."""
    threads: int | None = None
    """Intra-op CPU threads of the process; `None` leaves torch's setting unchanged."""
    products: Products | None = None
    """Library of the products with frozen weights on a CPU; `None` leaves the process's own."""
    minibatches: int = 1
    """Optimizer steps per update, each over every `minibatches`-th sample or pair."""
    max_batch_tokens: int | None = None
    """Largest number of tokens in a micro-batch; `None` selects 4,096 on a CPU, and on CUDA as many
    as fit into the memory that is free once the model is loaded. One that does not fit is halved.
    """
    checkpointing: bool | None = None
    """Recomputes layers in backward instead of storing their activations: a quarter more time for a
    fraction of the memory. `None` selects it on CUDA."""
    mismatch: MismatchConfig | None = None
    """Correction for tokens sampled by another policy; `None` for supervised and preference data.
    """
    kl_coefficient: float = 0.0
    """Weight of the KL penalty towards the model that training starts from, see `base_distance`;
    0 disables it at no cost."""
    start: Path | None = None
    """Directory of the adapter that training starts from, with the same rank and alpha; `None`
    starts from the base model."""

    @property
    def computes(self) -> ComputeChoice | None:
        """Returns the way to compute on a CPU, `None` if it is not decided."""
        if self.products is None or self.threads is None:
            return None
        return ComputeChoice(products=self.products, threads=self.threads)

    @property
    def objective(self) -> str:
        """Returns the options of what a step minimises, as JSON to compare."""
        values = {
            "loss": self.loss_options,
            "mismatch": None if self.mismatch is None else asdict(self.mismatch),
            "kl_coefficient": self.kl_coefficient,
        }
        return json.dumps(values, sort_keys=True)

    def dtype_on(self, *, cpu: bool) -> Precision:
        return self.dtype or ("float32" if cpu else "bfloat16")

    def checkpointing_on(self, *, cpu: bool) -> bool:
        return not cpu if self.checkpointing is None else self.checkpointing

    def __post_init__(self) -> None:
        truncates = self.mismatch is not None and self.mismatch.truncation is not None
        if truncates and self.minibatches > 1:
            raise ValueError(
                "truncation requires the policy before the step: minibatches must be 1"
            )


def machine_options(
    options: TrainerOptions, spec: BaseModelSpec, installed: TrainerMemory
) -> TrainerOptions:
    """Returns the options with the base model's values, or the installation's where the base model
    has none.
    """
    memory = installed.of(spec)
    return replace(
        options,
        dtype=spec.dtype,
        checkpointing=memory.checkpointing,
        max_batch_tokens=memory.micro_batch_tokens,
    )
