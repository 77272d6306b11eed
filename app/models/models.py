"""Models: base models of the configuration, tuned models, and their names."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, assert_never

from pydantic import BaseModel, ConfigDict, Field


@dataclass(frozen=True, slots=True)
class TunedModel:
    name: str
    project_id: str
    job_id: str
    base_model: str
    engine_name: str
    """The engine's name for the adapter: unguessable, never reused, never shown to a client."""
    object_key: str
    step: int
    created_at: int
    reasoning_effort: str | None = None


ToolParser = Literal[
    "hermes",
    "qwen3_coder",
    "qwen3_xml",
    "llama3_json",
    "llama4_json",
    "mistral",
    "functiongemma",
    "gemma4",
    "glm45",
    "glm47",
    "deepseek_v3",
    "deepseek_v31",
    "openai",
    "pythonic",
    "olmo3",
    "granite",
    "phi4_mini_json",
]
ToolParserChoice = ToolParser | Literal["auto"]
"""`auto` is the format that parses the calls of the model's chat template."""


_MOST_USERS: Final = 5
STUDENT: Final = "student"


@dataclass(frozen=True, slots=True)
class ModelUser:
    id: str
    noun: str
    cure: str


def used_by(users: Sequence[ModelUser]) -> str:
    taught = [user for user in users if user.noun == STUDENT]
    if taught:
        named = ", ".join(f"'{user.id}'" for user in taught[:_MOST_USERS])
        return f"answers for student {named}. Let another skill answer first: {taught[0].cure}."
    more = f" and {len(users) - _MOST_USERS} more" if len(users) > _MOST_USERS else ""
    named = ", ".join(f"{user.noun} {user.id}" for user in users[:_MOST_USERS])
    first = {user.noun: user.cure for user in reversed(users)}
    cures = "; ".join(f"{first[noun]} ends the {noun}" for noun in sorted(first))
    verb = "has" if len(users) == 1 else "have"
    return (
        f"is used by {named}{more}, which {verb} not ended. Wait for the end, or end it: {cures}."
    )


BASE_MODEL_UNSUPPORTED: Final = "base_model_unsupported"
"""Error code of a base model that cannot do what a job needs."""
MODEL_NOT_AVAILABLE: Final = "model_not_available"
"""Error code of a model that does not exist or whose base model is not offered any more."""
_TUNED = "ft:"
_SHOWN_NAMES = 20
_SLUG = re.compile(r"[^a-z0-9-]+")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_HUB_SNAPSHOT = re.compile(r".*/models--([^/]+?)--([^/]+)/snapshots/[0-9a-f]{40}/?")
"""The directory of a hub model at one commit, in the hub's cache."""


class BaseModelSpec(BaseModel):
    """One base model the operator offers, from configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """Dated public name, e.g. `tiny-agent-2026-11-23`, to which a job's `model` is resolved."""
    aliases: tuple[str, ...] = ()
    """Other names a create call may use for it."""
    path: str
    """Local directory or hub id, as for `from_pretrained`."""
    context_length: int = Field(gt=0)
    """Largest number of tokens of a whole rollout, prompt included."""
    tool_parser: ToolParserChoice = "auto"
    """vLLM's name of the format of tool calls; `auto` finds the format of the chat template."""
    reasoning_parser: str | None = None
    """vLLM's reasoning parser, e.g. `qwen3`, for a model that always thinks: vLLM then constrains
    the answer to a `response_format` only after the reasoning. Reasoning is parsed without this
    setting too."""
    chat_template: Path | None = None
    """Jinja file that replaces the tokenizer's own chat template."""
    lora_rank: int = Field(default=16, gt=0)
    """Rank of the adapters that jobs train."""
    lora_alpha: float = Field(default=32, gt=0)
    """Scale of these adapters: their update is multiplied by alpha / rank."""
    learning_rate: float = Field(default=4e-5, gt=0)
    """AdamW rate of reinforcement jobs at `learning_rate_multiplier` 1."""
    supervised_learning_rate: float | None = Field(default=None, gt=0)
    """The same rate for supervised jobs; `None` is 5 times `learning_rate`."""
    dpo_learning_rate: float | None = Field(default=None, gt=0)
    """The same rate for DPO jobs; `None` is an eighth of `learning_rate`."""
    dtype: Literal["float32", "bfloat16"] | None = None
    """Precision of the frozen weights in the trainer; `None` is bfloat16 on a GPU and float32 on a
    CPU. The adapter is always float32."""
    checkpointing: bool | None = None
    """True recomputes each layer in the trainer's backward pass instead of storing its activations;
    `None` uses `runs.checkpointing`."""
    micro_batch_tokens: int | None = Field(default=None, gt=0)
    """Tokens of a micro-batch; `None` uses `runs.micro_batch_tokens`."""
    max_turn_tokens: int = Field(default=1024, gt=0)
    """Largest number of tokens of one sampled turn of a rollout. A chat has no such limit."""
    refusal: str | None = None
    """The reason why no job can train it here; jobs on it are refused with it. `agent-rft up`
    checks the configured models and sets it; elsewhere `agent-rft base-models --check` has it."""
    tokens_per_s: float | None = Field(default=None, gt=0)
    """Sampled tokens per second of a whole job on this installation, training and tools included.
    Estimates use it for projects without a finished job."""

    def rate_of(self, kind: Literal["reinforcement", "supervised", "dpo"]) -> float:
        """Returns the AdamW rate of a method at `learning_rate_multiplier` 1."""
        match kind:
            case "reinforcement":
                return self.learning_rate
            case "supervised":
                return self.supervised_learning_rate or 5 * self.learning_rate
            case "dpo":
                return self.dpo_learning_rate or self.learning_rate / 8
            case _:
                assert_never(kind)

    @property
    def dated(self) -> int | None:
        """Unix time of the date at the end of the name; `None` for a name without one."""
        try:
            return int(datetime.strptime(f"{self.name[-10:]}Z", "%Y-%m-%d%z").timestamp())
        except ValueError:
            return None

    @property
    def hub_id(self) -> str | None:
        snapshot = _HUB_SNAPSHOT.fullmatch(self.path)
        if snapshot is not None:
            return "/".join(snapshot.groups())
        return self.path if is_hub_id(self.path) else None

    def answers_to(self, name: str) -> bool:
        return name == self.name or name in self.aliases


def is_hub_id(text: str) -> bool:
    return _HUB_ID.fullmatch(text) is not None


def find_base_model(models: tuple[BaseModelSpec, ...], name: str) -> BaseModelSpec | None:
    return next((model for model in models if model.answers_to(name)), None)


def base_of(models: tuple[BaseModelSpec, ...], name: str) -> BaseModelSpec | None:
    found = find_base_model(models, name)
    if found is not None:
        return found
    fitting = [model for model in models if name.startswith(f"{_TUNED}{model.name}:")]
    return max(fitting, key=lambda model: len(model.name), default=None)


def unknown_model(name: str, models: tuple[BaseModelSpec, ...]) -> str:
    """Returns the sentences for a model to train that nobody has, with the names that would do."""
    known = sorted(shown for model in models for shown in (model.name, *model.aliases))
    more = ", …" if len(known) > _SHOWN_NAMES else ""
    return (
        f"Model {name} is not available for fine-tuning or does not exist. Base models here: "
        f"{', '.join(known[:_SHOWN_NAMES])}{more}."
    )


def not_offered(base_model: str) -> str:
    return (
        f"Its base model '{base_model}' is not offered any more, and an adapter fits no other "
        "weights. Ask the operator to name the directory of that base model in "
        "AGENT_RFT_BASE_MODELS, or train another base model."
    )


def is_tuned_name(name: str) -> bool:
    return name.startswith(_TUNED)


def suffix_in_name(suffix: str) -> str:
    return _SLUG.sub("-", suffix.lower()).strip("-")


def tuned_model_name(base: str, organization_slug: str, suffix: str | None, *, job_id: str) -> str:
    """Returns `ft:<base>:<organization>:<suffix>:<8 characters>`, a pure function of the job id."""
    clean = suffix_in_name(suffix or "")
    short = hashlib.sha256(job_id.encode()).hexdigest()[:8]
    return f"{_TUNED}{base}:{organization_slug}:{clean}:{short}"


CHECKPOINT_NAMES: Final = ":ckpt-step-[0-9]+$"
"""The end of a checkpoint's name; a published model ends with an id."""


def checkpoint_model_name(tuned: str, step: int) -> str:
    return f"{tuned}:ckpt-step-{step}"


class TrainerMemory(BaseModel):
    """Values that a base model does not set for itself; `None` is the trainer's own default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    checkpointing: bool | None = None
    micro_batch_tokens: int | None = Field(default=None, gt=0)

    def of(self, spec: BaseModelSpec) -> "TrainerMemory":
        """Returns the values for one base model: its own ones, or else the installation's."""
        own = spec.checkpointing
        return TrainerMemory(
            checkpointing=self.checkpointing if own is None else own,
            micro_batch_tokens=spec.micro_batch_tokens or self.micro_batch_tokens,
        )


@dataclass(frozen=True, slots=True)
class CheckpointPermission:
    id: str
    model_name: str
    project_id: str
    """The project that may call the model; the row's tenant is the owner."""
    created_at: int


STUDENT_PREFIX: Final = "student:"
"""First part of a student's name where a model is named."""


STUDENT_TEMPERATURE: Final = 0.0
"""At which a student answers, and is tested, unless the caller sends another temperature."""


@dataclass(frozen=True, slots=True)
class StudentVersion:
    """The version of a student that answers."""

    model: str
    instructions: str | None
    """The system message of a conversation that has none."""


def student_named(model: str) -> str | None:
    return model.removeprefix(STUDENT_PREFIX) if model.startswith(STUDENT_PREFIX) else None


def unknown_student(name: str) -> str:
    return f"Student '{name}' does not exist: GET /v1/students lists the students that there are."
