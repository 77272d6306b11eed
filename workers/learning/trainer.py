"""The interface between a run and its trainer."""

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, Protocol, Self

from app.jobs.learning import MAX_LOG_RATIO
from app.kit.errors import AgentRftError
from app.models.compute import ComputeChoice, Products
from app.models.models import BaseModelSpec, TrainerMemory
from app.rollouts.trajectory import Trajectory

TRAINER_FILE: Final = "trainer.json"


class StateMismatch(AgentRftError):
    """A saved state cannot be loaded under these settings or by this version."""


@dataclass(frozen=True, slots=True)
class TrainerSettings:
    base_name: str
    rank: int
    alpha: float
    learning_rate: float
    loss: str
    minibatches: int
    base_digest: str | None = None
    computes: dict[str, Any] | None = None
    """The `ComputeChoice` of a trainer on a CPU; `None` in a state that was saved without it."""

    objective: str | None = None
    """JSON of the options of loss, mismatch and KL; `None` in a state that was saved without it."""

    def differences(self, saved: Mapping[str, Any]) -> list[str]:
        current = self.as_json()
        later = ("base_digest", "computes", "objective")
        saved = {**saved, **{name: current[name] for name in later if saved.get(name) is None}}
        return sorted(k for k in {*saved, *current} if saved.get(k) != current.get(k))

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def saved_settings(directory: Path) -> TrainerSettings | None:
    """`None` if they cannot be read; loading that state raises the reason."""
    try:
        document = json.loads((directory / TRAINER_FILE).read_text(encoding="utf-8"))
        return TrainerSettings(**document["settings"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


@dataclass(frozen=True, slots=True)
class TrainingSample:
    """One row of training data; `tokens`, `mask` and `logprobs` are parallel, as in `TokenRow`.
    Raises `ValueError` if they are not, if the first token is marked as sampled (no token precedes
    it), or if an advantage or a trained token's log-prob is not finite.
    """

    tokens: Sequence[int]
    mask: Sequence[int]
    logprobs: Sequence[float]
    """Natural log of each token's probability at the sampling temperature, recorded at sampling."""
    advantage: float
    token_advantages: Sequence[float] | None = None
    group: Hashable = None
    """Key of the prompt: samples with equal keys within one trainer call form a group."""

    def __post_init__(self) -> None:
        if not len(self.tokens) == len(self.mask) == len(self.logprobs):
            raise ValueError("tokens, mask and logprobs must be parallel")
        if self.mask and self.mask[0]:
            raise ValueError("the first token has no context and cannot be trained")
        if self.token_advantages is not None and len(self.token_advantages) != len(self.tokens):
            raise ValueError("token_advantages must be parallel to tokens")
        for advantage in (self.advantage, *self._trained_advantages()):
            if not math.isfinite(advantage):
                raise ValueError(f"an advantage must be finite, got {advantage!r}")
        if not all(
            math.isfinite(logprob)
            for logprob, trained in zip(self.logprobs, self.mask, strict=True)
            if trained
        ):
            raise ValueError("a trained token has a log-prob that is not finite")

    @property
    def trained_tokens(self) -> int:
        return sum(self.mask)

    @property
    def has_zero_advantage(self) -> bool:
        if self.token_advantages is None:
            return self.advantage == 0.0
        return not any(self._trained_advantages())

    def advantage_of(self, position: int) -> float:
        return self.advantage if self.token_advantages is None else self.token_advantages[position]

    def _trained_advantages(self) -> list[float]:
        if self.token_advantages is None:
            return []
        pairs = zip(self.token_advantages, self.mask, strict=True)
        return [advantage for advantage, trained in pairs if trained]

    def with_token_advantages(self, advantages: Sequence[float]) -> Self:
        return replace(self, token_advantages=advantages)

    @classmethod
    def of_rollout(cls, trajectory: Trajectory, advantage: float) -> list[Self]:
        """Returns its rows with sampled tokens, in their order, each with the whole advantage."""
        # In `async` mode a step may contain groups of the same row from several epochs.
        group = (trajectory.key.step, trajectory.key.prompt_index)
        return [
            cls(row.tokens, row.mask, row.logprobs, advantage, group=group)
            for row in trajectory.sampled_rows
        ]


def count_trained_tokens(samples: Sequence[TrainingSample]) -> int:
    """The tokens with mask 1: the denominator of a step. Samples with advantage 0 count too."""
    return sum(sample.trained_tokens for sample in samples)


UpdateStats = dict[str, float]


class Trainer(Protocol):
    """One LoRA adapter over a frozen base model. Calls block, one at a time, each from a worker
    thread; only `close` may be called during another call.
    """

    @property
    def settings(self) -> TrainerSettings: ...

    @property
    def steps(self) -> int: ...

    @property
    def accelerators(self) -> int: ...

    def update(self, samples: Sequence[TrainingSample]) -> UpdateStats:
        """Takes one optimizer step (or as many as the trainer's `minibatches`) on `samples`. A step
        whose loss or gradient is not finite is skipped and counted, and leaves adapter and
        optimizer as they were. Means among the returned curve values are over trained tokens.
        """
        ...

    def accumulate(self, samples: Sequence[TrainingSample]) -> None:
        """Adds the gradient sum of a part of a step's samples; `step` divides and applies it."""
        ...

    def step(self, denominator: int | None = None) -> UpdateStats:
        """On all samples since the last step. `denominator` replaces their tokens or pairs."""
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
        """The values that `update` would report for each set; `adapter=False`: of the base."""
        ...

    def logprobs(self, token_ids: Sequence[int], *, adapter: bool = True) -> list[float]:
        """The T-1 log-probs of tokens 1 … T-1, at the trainer's temperature."""
        ...

    def reference_logprobs(self, samples: Sequence[TrainingSample]) -> list[list[float]]:
        """Log-probs of each token under the model at the start; 0.0 for untrained tokens."""
        ...

    def save_adapter(self, directory: Path) -> None: ...

    def save_state(self, directory: Path) -> None: ...

    def load_state(self, directory: Path) -> None:
        """Raises `ManifestMismatch` or `StateMismatch`; the trainer is unchanged then."""
        ...

    def close(self) -> None:
        """Call it once, at the end; a call that still runs in another thread may fail."""
        ...


@dataclass(frozen=True, slots=True)
class MismatchConfig:
    """Options of `correct`; by default only the bound on log-ratios applies."""

    truncation: Literal["token", "sequence"] | None = None
    cap: float = 2.0
    sequence_mask: Literal["geometric_mean", "product"] | None = None
    band: tuple[float, float] = (0.99, 1.01)
    max_log_ratio: float = MAX_LOG_RATIO


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
    products: Products | None = None
    minibatches: int = 1
    """Optimizer steps per update, each over every `minibatches`-th sample or pair."""
    max_batch_tokens: int | None = None
    """`None`: 4,096 on a CPU, on CUDA what fits; a micro-batch that does not is halved."""
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
    """The base model's values, or the installation's where it has none."""
    memory = installed.of(spec)
    return replace(
        options,
        dtype=spec.dtype,
        checkpointing=memory.checkpointing,
        max_batch_tokens=memory.micro_batch_tokens,
    )
