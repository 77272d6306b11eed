"""Reinforcement jobs: the options of a create call, and the values `auto` resolves to. Pure.

Source: the hosted API's `FineTuneReinforcementHyperparameters`; the rules for `auto` are ours.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator
from typing_extensions import override

from app.graders.definitions import Grader
from app.jobs.learning import LearningOptions, NothingToLearnOptions, shown_learning, shown_mode
from app.jobs.losses import fault
from app.jobs.response_formats import ReasoningEffort
from app.jobs.stop_options import KeepCheckpoints, ReinforcementStopOptions, is_unset, shown_end
from app.jobs.supervised import (
    HOSTED_HYPERPARAMETERS,
    Auto,
    BatchSize,
    ComputeMultiplier,
    Epochs,
    EvalInterval,
    EvalSamples,
    EvalTemperature,
    LearningRateMultiplier,
    a_number,
)
from app.kit.fields import DescribedModel, OpenKeys
from app.models.models import BaseModelSpec
from app.tools.environment_options import HttpEnvironmentSpec
from app.tools.environments import Environment, over_http
from app.tools.mcp_servers import MAX_MCP_SERVERS, McpServerSpec
from app.tools.tools import ToolSpec

DEFAULT_ROLLOUTS_PER_EXAMPLE = 8
DEFAULT_MAX_EPISODE_STEPS = 10
MAX_TOOLS = 128


EpisodeSteps = Annotated[int, Field(ge=1, le=1000), BeforeValidator(a_number)]


class ReinforcementHyperparameters(OpenKeys, DescribedModel):
    """Hyperparameters of a reinforcement job; every field has a value or `auto`."""

    accepted_keys: ClassVar[frozenset[str] | None] = HOSTED_HYPERPARAMETERS
    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    batch_size: BatchSize = "auto"
    """Examples (prompts) per optimizer step."""
    learning_rate_multiplier: LearningRateMultiplier = "auto"
    """Factor on the base model's own learning rate."""
    n_epochs: Epochs = "auto"
    """Times that the training file is used."""
    compute_multiplier: ComputeMultiplier = "auto"
    """Factor on the rollouts of each example; 1 is 8 rollouts."""
    eval_interval: EvalInterval = "auto"
    """Steps between validations."""
    eval_samples: EvalSamples = "auto"
    """Rollouts of each held-out row in a validation."""
    eval_temperature: EvalTemperature = "auto"
    """Temperature of these rollouts; an extension."""
    eval_greedy: bool = Field(default=True, strict=True)
    """Adds one rollout of each held-out row at temperature 0; an extension."""
    reasoning_effort: ReasoningEffort = "default"
    """Reasoning effort of the rollouts; kept by calls of the tuned model."""

    @model_validator(mode="after")
    def _samples_differ(self) -> "ReinforcementHyperparameters":
        if self.eval_temperature == 0 and self.eval_samples not in ("auto", 1):
            raise fault(
                "at an 'eval_temperature' of 0 every rollout of a row is the same: send 1",
                "eval_samples",
            )
        return self


RUNS_CALLS: Final = "'tools', 'mcp_servers' or an 'environment' of type 'http'"
"""The settings under which calls of the model are answered, for messages about a job without any.
"""


class ReinforcementMethod(OpenKeys, LearningOptions):
    """`method.reinforcement` of the create call."""

    documented_keys: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"max_rollouts": "a number", "max_training_time_s": "a number"}
    )

    kind: ClassVar[Literal["reinforcement"]] = "reinforcement"

    environment: Environment | None = Field(default=None, exclude_if=is_unset)
    """An environment (an extension): a built-in source of tasks, instead of the files, or one of
    type `http`, which plays the rows of the files. It has its own grader.
    """
    grader: Grader
    """The function that scores each rollout."""
    tools: tuple[ToolSpec, ...] = Field(default=(), max_length=MAX_TOOLS)
    """Tools that the service calls for the model. Without any, the tools of rows are offered and
    their calls graded, not run."""
    mcp_servers: tuple[McpServerSpec, ...] = Field(
        default=(), max_length=MAX_MCP_SERVERS, exclude_if=lambda servers: not servers
    )
    """MCP servers whose tools are offered on every row, beside the row's own."""
    max_episode_steps: EpisodeSteps | None = None
    """Largest number of turns and tool calls of a rollout; absent: 10."""
    response_format: dict[str, Any] | None = None
    """It is stored and echoed; no engine enforces it."""
    stop: ReinforcementStopOptions | None = Field(default=None, exclude_if=is_unset)
    """Rules that warn, pause the job or end it early (an extension)."""
    keep_checkpoints: KeepCheckpoints | None = Field(default=None, exclude_if=is_unset)
    """Number of checkpoints that are kept (an extension)."""
    nothing_to_learn: NothingToLearnOptions | None = Field(default=None, exclude_if=is_unset)
    """Limits of the check that ends a job in which nothing can be learned (an extension)."""
    hyperparameters: ReinforcementHyperparameters = ReinforcementHyperparameters()
    """Sizes, rates and intervals."""

    @property
    def http_environment(self) -> HttpEnvironmentSpec | None:
        return over_http(self.environment)

    @property
    @override
    def judges_groups(self) -> bool:
        graders = (self.grader, *self.grader.parts.values())
        return any(grader.compares_rollouts for grader in graders)

    @property
    def runs_tools(self) -> bool:
        return bool(self.tools or self.mcp_servers)

    @property
    def runs_calls(self) -> bool:
        """True if tools or an environment answer the policy's calls, in several turns."""
        return self.runs_tools or self.http_environment is not None

    @property
    def job_tools(self) -> frozenset[str] | None:
        """Names of the tools that rows may offer. `None` for a job that runs no tool: then a row's
        tools are offered and the calls of its one turn are graded, not run.
        """
        return frozenset(tool.name for tool in self.tools) if self.runs_tools else None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The sampling of each held-out row in a validation."""

    samples: int
    temperature: float
    greedy: bool

    @property
    def rollouts_per_row(self) -> int:
        return self.samples + int(self.greedy)


@dataclass(frozen=True, slots=True)
class ResolvedHyperparameters:
    batch_size: int
    group_size: int
    n_epochs: int
    learning_rate: float
    eval_interval: int
    evaluation: Evaluation
    total_steps: int
    max_episode_steps: int

    @property
    def eval_samples(self) -> int:
        return self.evaluation.samples


def _value(sent: float | Auto, automatic: float) -> float:
    return automatic if sent == "auto" else float(sent)


def automatic_batch(train_rows: int) -> int:
    return max(min(16, max(4, train_rows // 16)), min(32, train_rows // 40))


def automatic_interval(total_steps: int) -> int:
    return max(1, total_steps // 5)


def resolve_hyperparameters(
    method: ReinforcementMethod, *, train_rows: int, base_model: BaseModelSpec
) -> ResolvedHyperparameters:
    """Resolves `auto` to numbers.

    - `batch_size`: a sixteenth of the rows, between 4 and 16; of more than 640 rows a fortieth, at
      most 32.
    - `n_epochs`: enough for 40 steps, between 1 and 10.
    - `compute_multiplier`: 1, which is 8 rollouts per example (at least 2).
    - `learning_rate_multiplier`: 1 × the base model's own rate.
    - `eval_interval`: a fifth of the steps, at least 1.
    - `eval_samples`: 1.
    - `eval_temperature`: 1, as in training.
    """
    sent = method.hyperparameters
    batch_size, n_epochs, total_steps = _steps(sent, train_rows)
    compute = _value(sent.compute_multiplier, 1.0)
    temperature = _value(sent.eval_temperature, 1.0)
    return ResolvedHyperparameters(
        batch_size=batch_size,
        group_size=max(2, round(DEFAULT_ROLLOUTS_PER_EXAMPLE * compute)),
        n_epochs=n_epochs,
        learning_rate=base_model.learning_rate * _value(sent.learning_rate_multiplier, 1.0),
        eval_interval=int(_value(sent.eval_interval, automatic_interval(total_steps))),
        evaluation=Evaluation(
            samples=int(_value(sent.eval_samples, 1)),
            temperature=temperature,
            greedy=sent.eval_greedy and temperature > 0,
        ),
        total_steps=total_steps,
        max_episode_steps=method.max_episode_steps or DEFAULT_MAX_EPISODE_STEPS,
    )


def _steps(sent: ReinforcementHyperparameters, train_rows: int) -> tuple[int, int, int]:
    batch_size = int(_value(sent.batch_size, automatic_batch(train_rows)))
    batch_size = min(batch_size, train_rows)
    steps_per_epoch = math.ceil(train_rows / batch_size)
    n_epochs = int(_value(sent.n_epochs, min(10, max(1, math.ceil(40 / steps_per_epoch)))))
    return batch_size, n_epochs, steps_per_epoch * n_epochs


def steps_of(sent: ReinforcementHyperparameters, train_rows: int) -> int:
    return _steps(sent, train_rows)[2]


def resolved_options(
    options: dict[str, Any], resolved: ResolvedHyperparameters, base_model: BaseModelSpec
) -> dict[str, Any]:
    sent = dict(options.get("hyperparameters") or {})
    numbers = {
        "batch_size": resolved.batch_size,
        "n_epochs": resolved.n_epochs,
        "learning_rate_multiplier": resolved.learning_rate / base_model.learning_rate,
        "compute_multiplier": resolved.group_size / DEFAULT_ROLLOUTS_PER_EXAMPLE,
        "eval_interval": resolved.eval_interval,
        "eval_samples": resolved.eval_samples,
        "eval_temperature": resolved.evaluation.temperature,
    }
    automatic = {key: number for key, number in numbers.items() if sent.get(key, "auto") == "auto"}
    shown = dict(options)
    shown["hyperparameters"] = {"eval_greedy": True, **sent, **automatic}
    shown["max_episode_steps"] = resolved.max_episode_steps
    shown.update(shown_learning(shown, base_model, model=ReinforcementMethod))
    shown.update(shown_end(shown, ReinforcementStopOptions))
    check = NothingToLearnOptions.model_validate(shown.get("nothing_to_learn") or {})
    shown["nothing_to_learn"] = check.model_dump(mode="json")
    shown["mode"] = shown_mode(shown.get("mode"), batch_size=resolved.batch_size)
    return shown
