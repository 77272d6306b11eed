"""The plan of a start with one base model: request and reply between the planes."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from app.domain.models.models import BaseModelSpec
from app.domain.models.trainer_memory import TrainerMemory

EngineKind = Literal["cpu", "vllm", "vllm_cpu"]
"""`vllm_cpu` is vLLM's CPU build."""


class StartRequest(BaseModel):
    """A request to the GPU plane for the plan of a model on this machine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    spec: BaseModelSpec
    engine: EngineKind
    engine_share: float | None = Field(default=None, gt=0, lt=1)
    """Share of the GPU for the engine; `None` lets the plan choose."""
    memory: TrainerMemory = TrainerMemory()
    """The operator's memory settings, as for a run."""


class StartPlan(BaseModel):
    """The verdict on a base model, its memory and speed on this machine, and the sizes of the
    engine.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    refusal: str | None = None
    """The reason why the model cannot be used at all."""
    lines: tuple[str, ...] = ()
    """Verdict and tables, as printed."""
    problems: tuple[str, ...] = ()
    """Each part that does not fit, with the setting to change."""
    engine_share: float | None = None
    """Share of the GPU for the engine."""
    kv_mib: int | None = None
    """Memory of keys and values of an engine on the CPU."""
    micro_batch_tokens: int | None = None
    """Tokens of a micro-batch if the default does not fit, unless the operator has set a number."""


class StepPace(BaseModel):
    """Speeds of a base model on this machine, in tokens per second."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    read: float = Field(gt=0)
    """Prompt tokens that the engine computes."""
    sampled: float = Field(gt=0)
    trained: float = Field(gt=0)
    """Tokens of all rows that pass through forward and backward."""
    shares_prompts: bool
    """True if the trainer computes the prompt of a group once."""


GROUPS, GROUP_SIZE, PROMPT_TOKENS, SAMPLED_TOKENS = 8, 8, 256, 128
"""The step that is timed: 8 prompts with 8 rollouts each."""


class StepTime(BaseModel):
    """Seconds of a step of `GROUPS` × `GROUP_SIZE` rollouts."""

    model_config = ConfigDict(frozen=True)

    sampling: float
    training: float

    @property
    def total(self) -> float:
        return self.sampling + self.training

    @property
    def tokens_per_s(self) -> float:
        """Sampled tokens per second of the whole step."""
        return GROUPS * GROUP_SIZE * SAMPLED_TOKENS / self.total


def step_time(pace: StepPace) -> StepTime:
    """Returns the time of a step at a pace. The engine computes the prompt of a group once."""
    rollouts = GROUPS * GROUP_SIZE
    prompts = GROUPS if pace.shares_prompts else rollouts
    trained = prompts * PROMPT_TOKENS + rollouts * SAMPLED_TOKENS
    return StepTime(
        sampling=GROUPS * PROMPT_TOKENS / pace.read + rollouts * SAMPLED_TOKENS / pace.sampled,
        training=trained / pace.trained,
    )
