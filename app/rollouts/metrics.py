"""Names of the curves a job writes, and the points on them.

One vocabulary for reporter, API, events and dashboard. Points are idempotent by
(job, name, split, step): a replayed step overwrites its own.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.kit.ids import Split

REWARD_MEAN: Final = "reward/mean"
REWARD_STD: Final = "reward/std"
REWARD_MIN: Final = "reward/min"
REWARD_MAX: Final = "reward/max"
REWARD_P10: Final = "reward/p10"
REWARD_P90: Final = "reward/p90"
"""Percentiles of the rewards, interpolated between the two nearest."""
COMPLETION_TOKENS_MEAN: Final = "tokens/completion_mean"
REASONING_TOKENS_MEAN: Final = "tokens/reasoning_mean"
PROMPT_TOKENS_MEAN: Final = "tokens/prompt_mean"
TURNS_MEAN: Final = "turns/mean"
TOOL_CALLS_MEAN: Final = "tool_calls/mean"
TOOL_CALLS_REPEATED_MEAN: Final = "tool_calls/repeated_mean"
TOOL_RETRIES_MEAN: Final = "tool_calls/retries_mean"
"""Retries of a rollout's tool calls, beyond the first attempts."""
TOOL_PARSE_ERRORS_MEAN: Final = "tool_calls/parse_errors_mean"
ENVIRONMENT_STEPS_MEAN: Final = "environment/steps_mean"
ENVIRONMENT_LATENCY_MEAN: Final = "environment/latency_s_mean"
ENVIRONMENT_RETRIES_MEAN: Final = "environment/retries_mean"
ENVIRONMENT_REWARD_MEAN: Final = "environment/reward_mean"
ENVIRONMENT_DONE_SHARE: Final = "environment/done_share"
ENVIRONMENT_ERRORS: Final = "environment/errors"
"""Curves of a job with an HTTP environment."""
LIMIT_STOP_SHARE: Final = "rollouts/limit_stop_share"
ROLLOUTS_VALID: Final = "rollouts/valid"
DISCARDED_COUNT: Final = "discarded/count"
DISCARDED_SHARE: Final = "discarded/share"
GROUPS_TRAINED: Final = "groups/trained"
GROUPS_ZERO_VARIANCE: Final = "groups/zero_variance"
GROUPS_MASKED: Final = "groups/masked"
OBJECTIVE_MEAN: Final = "objective/mean"
"""The shaped reward, from which advantages are computed: the grader's reward less all terms."""
OBJECTIVE_TERMS: Final = (
    "clamped",
    "token_penalty",
    "call_budget_penalty",
    "repeated_call_penalty",
    "overlong_penalty",
)
"""Terms of the objective; each has a curve of its mean deduction from a rollout's reward."""
LOSS: Final = "train/loss"
GRAD_NORM: Final = "train/grad_norm"
LEARNING_RATE: Final = "train/learning_rate"
TRAINED_TOKENS: Final = "train/tokens"
"""Denominator of the loss; a job's `trained_tokens` is the sum over its steps."""
COMPUTED_TOKENS: Final = "train/computed_tokens"
"""Trained tokens that could move a weight: those whose advantage is not 0."""
ENTROPY: Final = "train/entropy"
TOKEN_ACCURACY: Final = "train/token_accuracy"  # noqa: S105 - a curve of tokens
"""Share of trained tokens that are the likeliest one, before the step."""
BATCH_LOSS: Final = "batch/loss"
"""Loss on a few held-out rows, between two validations on all of them."""
BATCH_TOKEN_ACCURACY: Final = "batch/token_accuracy"  # noqa: S105 - the name of a curve, not a secret
SAMPLER_KL_K3: Final = "train/sampler_kl_k3"
"""KL(sampler || trained policy), estimator k3: the mean over tokens of ratio - 1 - log(ratio)."""
SAMPLER_MAX_LOG_RATIO: Final = "train/sampler_max_abs_log_ratio"
SKIPPED_STEPS: Final = "train/skipped_steps"
"""Optimizer steps left out because loss or gradient was not finite."""
CLIPPED_SHARE: Final = "train/clipped_share"
MASKED_SHARE: Final = "train/masked_share"
"""Share of trained tokens left out because their sampler was too far from the trained policy."""
TRUNCATED_SHARE: Final = "train/truncated_share"
"""Share of trained tokens whose ratio was truncated to the cap."""
BASE_KL_K1: Final = "train/base_kl"
"""KL(sampler || starting model), estimator k1: the mean over trained tokens of the sampler's
log-prob less the starting model's.
"""
PREFERENCE_ACCURACY: Final = "preference/accuracy"
"""Share of pairs whose chosen completion has the higher implicit reward. It compares the model with
the one that training started from, which has 0 by definition.
"""
PREFERENCE_MARGIN: Final = "preference/margin"
PREFERENCE_CHOSEN_REWARD: Final = "preference/chosen_reward"
PREFERENCE_REJECTED_REWARD: Final = "preference/rejected_reward"
PREFERENCE_LOGPROB_ACCURACY: Final = "preference/logprob_accuracy"
"""Share of pairs whose chosen completion is more probable than the rejected one."""
PREFERENCE_CHOSEN_LOGPROB: Final = "preference/chosen_logprob"
"""Log-prob of the whole chosen completion: the sum over its trained tokens."""
PREFERENCE_REJECTED_LOGPROB: Final = "preference/rejected_logprob"
STALENESS_MEAN: Final = "staleness/mean"
"""Over a step's rollouts: versions published between a rollout's dispatch and its training."""
STALENESS_MAX: Final = "staleness/max"
STALE_DISCARDED_SHARE: Final = "staleness/discarded_share"
"""Share of rollouts discarded because they became too old, relative to discarded and trained ones.
"""
GROUP_SECONDS: Final = "staleness/group_s_mean"
GIVEN_UP_GROUP_SECONDS: Final = "staleness/given_up_group_s_mean"
QUEUE_DEPTH: Final = "queue/depth"
"""Finished rollouts that wait for a later step, after this step has taken its rollouts."""
QUEUE_IN_FLIGHT: Final = "queue/in_flight"
TRAINER_IDLE_SHARE: Final = "idle/trainer_share"
SAMPLER_IDLE_SHARE: Final = "idle/sampler_share"
"""Share of the time since the previous step without a request at the engine."""
PROBE_MAX_DIFF: Final = "publish/probe_max_abs_logprob_diff"
TIME_SAMPLING: Final = "time/sampling_s"
TIME_TRAINING: Final = "time/training_s"
TIME_PUBLISH: Final = "time/publish_s"
TIME_EVAL: Final = "time/eval_s"
TIME_STEP: Final = "time/step_s"
GRADER_LATENCY_MEAN: Final = "grader/latency_s_mean"
GRADER_ERROR_SHARE: Final = "grader/error_share"
"""Share of rollouts whose grade carries an error flag, or whose grader failed."""
TIE: Final = 1e-9
"""Largest difference of two equal values, rewards or losses: it is a rounding error."""


_TOOL_METRIC: Final = re.compile(r"tool/(?P<tool>[^/]+)/(?P<quantity>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ToolMetric:
    """A curve of one tool. `quantity`: `calls_mean`, `tokens_per_call`, `latency_s_mean`, `retries`
    (a count), `errors` or `errors/<kind>`.
    """

    tool: str
    quantity: str

    @property
    def name(self) -> str:
        """The curve's name, which `parse` reads back. Raises `ValueError` where it could not."""
        name = f"tool/{self.tool}/{self.quantity}"
        if self.parse(name) != self:
            raise ValueError(f"tool name {self.tool!r} cannot be part of a curve's name")
        return name

    @classmethod
    def parse(cls, name: str) -> "ToolMetric | None":
        """Parses the name of a tool's curve; returns `None` for any other curve."""
        found = _TOOL_METRIC.fullmatch(name)
        return None if found is None else cls(found["tool"], found["quantity"])


def tool_metric(tool: str, quantity: str) -> str:
    return ToolMetric(tool, quantity).name


_DISCARDED: Final = "discarded/"


def discarded_metric(failure_class: str) -> str:
    return f"{_DISCARDED}{failure_class}"


def discarded_class(name: str) -> str | None:
    """Returns the failure class that a curve counts; `None` for any other curve."""
    if not name.startswith(_DISCARDED) or name in (DISCARDED_COUNT, DISCARDED_SHARE):
        return None
    return name.removeprefix(_DISCARDED)


def discard_values(values: Mapping[str, float]) -> dict[str, float]:
    """Returns the values of the `discarded/...` curves, by failure class, `count` or `share`."""
    return {
        name.removeprefix(_DISCARDED): value
        for name, value in sorted(values.items())
        if name.startswith(_DISCARDED)
    }


GRADER_ERROR_FLAGS: Final = (
    "formula_parse_error",
    "sample_parse_error",
    "truncated_observation_error",
    "unresponsive_reward_error",
    "invalid_variable_error",
    "other_error",
    "python_grader_server_error",
    "python_grader_runtime_error",
    "model_grader_server_error",
    "model_grader_refusal_error",
    "model_grader_parse_error",
)
"""Error flags of a grade, as in the hosted API."""
ANSWER_FLAGS: Final = ("model_grader_refusal_error", "model_grader_parse_error")
"""Flags of a judge that answered without a score, so that the rollout has no grade."""


def grader_metric(child: str, what: str) -> str:
    """Returns the name of a curve of a grader, of one of its children, or (`child` empty) of the
    whole.

    `latency_s_mean`, `prompt_tokens_mean`, `prompt_tokens` (a sum; so for completion and cached),
    `measured` (rollouts it scored), `errors/<flag>` and `discarded` (counts).
    """
    return f"grader/{child}/{what}" if child else f"grader/{what}"


def objective_metric(term: str) -> str:
    return f"objective/{term}_mean"


def component_metric(name: str) -> str:
    """Returns the name of the curve of a grader's own named number, averaged over valid
    rollouts.
    """
    return f"reward/component/{name}"


@dataclass(frozen=True, slots=True)
class PackedCurve:
    """A curve as JSON texts: cheap to fetch, and parsed later on another thread."""

    name: str
    split: Split
    steps: str
    values: str
    every: int = 1
    """Steps of a block, if it has only the lowest, the highest and the last point of each."""

    def read(self) -> dict[int, float]:
        return dict(zip(json.loads(self.steps), json.loads(self.values), strict=True))


@dataclass(frozen=True, slots=True)
class MetricPoint:
    name: str
    split: Split
    step: int
    value: float


def drop_non_finite(values: dict[str, float]) -> list[str]:
    """Removes values that cannot be points of a curve (NaN, infinity). Returns their names,
    sorted.
    """
    dropped = sorted(name for name, value in values.items() if not math.isfinite(value))
    for name in dropped:
        del values[name]
    return dropped
