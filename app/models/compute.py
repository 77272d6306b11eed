"""The ways in which a process can compute on a CPU, and the record of a choice among them."""

import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import override

from app.models.models import BaseModelSpec, TrainerMemory

ComputeRole = Literal["engine", "trainer"]
Products = Literal["onednn", "torch"]
"""The library of matrix products: oneDNN, in the engine on packed weights, or torch's default."""


class ComputeChoice(BaseModel):
    """One way to compute. Its bits differ from those of every other one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    products: Products
    threads: int = Field(gt=0)

    @override
    def __str__(self) -> str:
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return f"{self.products} products, {threads}"


class ComputeScore(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    choice: ComputeChoice
    alone_s: float
    """Seconds on a machine that does nothing else."""
    beside_s: float
    """Seconds beside other processes that compute, one for each core."""
    won: float = Field(ge=0, le=1)
    """Share of the rounds in which it was faster than the assumed way."""

    @property
    def total_s(self) -> float:
        return self.alone_s + self.beside_s


class MeasuredChoice(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    role: ComputeRole
    machine: str
    widths: tuple[int, int]
    choice: ComputeChoice
    scores: tuple[ComputeScore, ...]
    """Scores of all candidates, the assumed one first; none if the machine was too busy to measure:
    the assumed way is then kept."""

    @override
    def __str__(self) -> str:
        times = ", ".join(
            f"{score.choice} {1000 * score.alone_s:.1f} ms alone and "
            f"{1000 * score.beside_s:.1f} ms beside others"
            for score in self.scores
        )
        why = f"measured: {times}" if times else "assumed: the machine was too busy to measure"
        return f"{self.role} of width {self.widths[0]}: {self.choice} ({why})"


EngineKind = Literal["cpu", "vllm", "vllm_cpu"]


class StartRequest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    spec: BaseModelSpec
    engine: EngineKind
    engine_share: float | None = Field(default=None, gt=0, lt=1)
    memory: TrainerMemory = TrainerMemory()


class StartPlan(BaseModel):
    """The verdict on a base model: memory and speed on this machine, sizes of the engine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    refusal: str | None = None
    lines: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """Each part that does not fit, with the setting to change."""
    engine_share: float | None = None
    kv_mib: int | None = None
    """Memory of keys and values of an engine on the CPU."""
    micro_batch_tokens: int | None = None
    """Tokens of a micro-batch if the default does not fit, unless the operator has set a number."""


class StepPace(BaseModel):
    """Speeds of a base model on this machine, in tokens per second."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    read: float = Field(gt=0)
    sampled: float = Field(gt=0)
    trained: float = Field(gt=0)
    """Tokens of all rows that pass through forward and backward."""
    shares_prompts: bool
    """True if the trainer computes the prompt of a group once."""


GROUPS, GROUP_SIZE, PROMPT_TOKENS, SAMPLED_TOKENS = 8, 8, 256, 128
"""The step that is timed: 8 prompts with 8 rollouts each."""


class StepTime(BaseModel):
    model_config = ConfigDict(frozen=True)

    sampling: float
    training: float

    @property
    def total(self) -> float:
        return self.sampling + self.training

    @property
    def tokens_per_s(self) -> float:
        return GROUPS * GROUP_SIZE * SAMPLED_TOKENS / self.total


def step_time(pace: StepPace) -> StepTime:
    rollouts = GROUPS * GROUP_SIZE
    prompts = GROUPS if pace.shares_prompts else rollouts
    trained = prompts * PROMPT_TOKENS + rollouts * SAMPLED_TOKENS
    return StepTime(
        sampling=GROUPS * PROMPT_TOKENS / pace.read + rollouts * SAMPLED_TOKENS / pace.sampled,
        training=trained / pace.trained,
    )


def measured_choice(file: Path) -> MeasuredChoice | None:
    try:
        return MeasuredChoice.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # not there, not UTF-8, or not valid
        return None


def measured_choices(directory: Path) -> list[MeasuredChoice]:
    found = (measured_choice(file) for file in sorted(directory.glob("*.json")))
    return [kept for kept in found if kept is not None]


def write_choice(file: Path, kept: MeasuredChoice) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch = file.with_suffix(f".{os.getpid()}")
    scratch.write_text(kept.model_dump_json(indent=1) + "\n", encoding="utf-8")
    scratch.replace(file)
