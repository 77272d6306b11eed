"""Base models and the names of tuned ones.

The training loop is independent of the model: it reads all model settings from `BaseModelSpec`.
"""

import hashlib
import re
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, assert_never

from pydantic import BaseModel, ConfigDict, Field

from app.domain.models.tool_parsers import ToolParserChoice

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
    setting too.
    """
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
    `None` uses `runs.checkpointing`.
    """
    micro_batch_tokens: int | None = Field(default=None, gt=0)
    """Tokens of a micro-batch; `None` uses `runs.micro_batch_tokens`."""
    max_turn_tokens: int = Field(default=1024, gt=0)
    """Largest number of tokens of one sampled turn of a rollout. A chat has no such limit."""
    refusal: str | None = None
    """The reason why no job can train it here; jobs on it are refused with it. `agent-rft up`
    checks the configured models and sets it; elsewhere `agent-rft base-models --check` has it.
    """
    tokens_per_s: float | None = Field(default=None, gt=0)
    """Sampled tokens per second of a whole job on this installation, training and tools included.
    Estimates use it for projects without a finished job.
    """

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
        """Hub id of the weights; `None` if `path` is a directory outside the hub's cache."""
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
    """Finds the base model for its own name, or for a tuned model's name, which contains the
    base's; of several matches the longest. Does not check that the tuned model exists.
    """
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
    """Returns the sentences for a tuned model whose base model this installation no longer has."""
    return (
        f"Its base model '{base_model}' is not offered any more, and an adapter fits no other "
        "weights. Ask the operator to name the directory of that base model in "
        "AGENT_RFT_BASE_MODELS, or train another base model."
    )


def is_tuned_name(name: str) -> bool:
    return name.startswith(_TUNED)


def suffix_in_name(suffix: str) -> str:
    """Returns a suffix as it is in the names of models: small letters, digits and hyphens."""
    return _SLUG.sub("-", suffix.lower()).strip("-")


def tuned_model_name(base: str, organization_slug: str, suffix: str | None, *, job_id: str) -> str:
    """Returns `ft:<base>:<organization>:<suffix or empty>:<8 characters>`, the hosted form.

    The last part is a pure function of the job id, so a resumed run publishes the same name.
    """
    clean = suffix_in_name(suffix or "")
    short = hashlib.sha256(job_id.encode()).hexdigest()[:8]
    return f"{_TUNED}{base}:{organization_slug}:{clean}:{short}"


CHECKPOINT_NAMES: Final = ":ckpt-step-[0-9]+$"
"""The end of a checkpoint's name, as a regular expression. A published model ends with an id,
whatever its suffix is.
"""


def checkpoint_model_name(tuned: str, step: int) -> str:
    return f"{tuned}:ckpt-step-{step}"
