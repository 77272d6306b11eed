"""Every curve that a job writes: a row has its name, its meaning and its chart on the job's page.

The order of the rows is that of `docs/metrics.md`. Points are idempotent by (job, name, split,
step): a replayed step overwrites its own.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from types import MappingProxyType
from typing import Final, Literal, get_args

from app.kit.errors import InvalidRequest
from app.kit.ids import Split
from app.rollouts.trajectory import FailureClass

MEANINGS: Final[dict[str, str]] = {}
CHARTED: Final[dict[str, dict[str, str]]] = {}


def curve(name: str, meaning: str, *, chart: tuple[str, str] | None = None) -> str:
    """Lists a curve. A part of its name in angle brackets stands for a tool, a grader, a component
    or a failure class. `chart`: id of its chart and label of its line; without one the curve is on
    no page. Returns the name.
    """
    MEANINGS[name] = meaning
    if chart is not None:
        CHARTED.setdefault(chart[0], {})[chart[1]] = name
    return name


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
        found = _TOOL_METRIC.fullmatch(name)
        return None if found is None else cls(found["tool"], found["quantity"])


def tool_metric(tool: str, quantity: str) -> str:
    return ToolMetric(tool, quantity).name


_DISCARDED: Final = "discarded/"


def discarded_metric(failure_class: str) -> str:
    return f"{_DISCARDED}{failure_class}"


def grader_metric(child: str, what: str) -> str:
    """Names a curve of a grader, of one of its children, or (`child` empty) of the whole.

    `latency_s_mean`, `prompt_tokens_mean`, `prompt_tokens` (a sum; so for completion and cached),
    `measured` (rollouts it scored), `errors/<flag>` and `discarded` (counts).
    """
    return f"grader/{child}/{what}" if child else f"grader/{what}"


def objective_metric(term: str) -> str:
    return f"objective/{term}_mean"


def component_metric(name: str) -> str:
    return f"reward/component/{name}"


def tag_metric(tag: str) -> str:
    return f"reward/tag/{tag}"


# Rollouts
REWARD_MEAN: Final = curve(
    "reward/mean", "Mean reward that the grader gave, without the penalties of `objective`."
)
REWARD_STD: Final = curve("reward/std", "Standard deviation of these rewards.")
REWARD_MIN: Final = curve("reward/min", "Lowest of these rewards.")
REWARD_MAX: Final = curve("reward/max", "Highest of these rewards.")
REWARD_P10: Final = curve(
    "reward/p10", "Their 10th percentile: a tenth of the rollouts earned less."
)
REWARD_P90: Final = curve(
    "reward/p90", "Their 90th percentile: a tenth of the rollouts earned more."
)
OBJECTIVE_MEAN: Final = curve(
    "objective/mean", "Mean reward less all terms of `objective`; advantages are computed from it."
)
curve(objective_metric("clamped"), "Mean that `clamp_limit_stop` took from the reward.")
curve(objective_metric("token_penalty"), "Mean that the penalty on tokens took.")
curve(objective_metric("call_budget_penalty"), "Mean that calls over the budget took.")
curve(objective_metric("repeated_call_penalty"), "Mean that repeated calls took.")
curve(objective_metric("overlong_penalty"), "Mean that `overlong` took.")
curve(
    component_metric("<name>"),
    "Mean of a number that the grader reports beside the reward, or of a child of a `multi` "
    "grader, over the rollouts that have it.",
)
curve(
    tag_metric("<tag>"),
    "Mean reward of the rollouts whose rows have one tag, for the 20 most common `tags` of at "
    "least 5 training rows.",
)
COMPLETION_TOKENS_MEAN: Final = curve(
    "tokens/completion_mean",
    "Mean tokens that the policy wrote in a rollout.",
    chart=("tokens", "completion"),
)
REASONING_TOKENS_MEAN: Final = curve(
    "tokens/reasoning_mean", "Mean tokens of reasoning among them.", chart=("tokens", "reasoning")
)
PROMPT_TOKENS_MEAN: Final = curve(
    "tokens/prompt_mean", "Mean tokens of the prompt.", chart=("tokens", "prompt")
)
TURNS_MEAN: Final = curve("turns/mean", "Mean turns of the policy in a rollout.")
ROWS_MEAN: Final = curve(
    "turns/rows_mean",
    "Mean rows of a rollout: 1, and one for each turn behind tokens that were rendered anew.",
)
TOOL_CALLS_MEAN: Final = curve("tool_calls/mean", "Mean tool calls in a rollout.")
TOOL_CALLS_REPEATED_MEAN: Final = curve(
    "tool_calls/repeated_mean",
    "Mean calls with the name and arguments of an earlier one of the same rollout.",
)
TOOL_RETRIES_MEAN: Final = curve(
    "tool_calls/retries_mean", "Mean attempts of a rollout's calls beyond the first."
)
TOOL_PARSE_ERRORS_MEAN: Final = curve(
    "tool_calls/parse_errors_mean",
    "Mean turns of a rollout that could not be parsed as a tool call or an answer.",
    chart=("unparsable", "turns"),
)
ENVIRONMENT_STEPS_MEAN: Final = curve(
    "environment/steps_mean",
    "Mean steps of the HTTP environment in a rollout.",
    chart=("environment", "steps"),
)
ENVIRONMENT_LATENCY_MEAN: Final = curve(
    "environment/latency_s_mean",
    "Mean seconds that a step took.",
    chart=("environment", "s a step"),
)
ENVIRONMENT_RETRIES_MEAN: Final = curve(
    "environment/retries_mean",
    "Mean attempts of a rollout's steps beyond the first.",
    chart=("environment", "retries"),
)
ENVIRONMENT_REWARD_MEAN: Final = curve(
    "environment/reward_mean",
    "Mean sum of the rewards of a rollout's steps, whichever grader gives the reward.",
    chart=("environment", "its reward"),
)
ENVIRONMENT_DONE_SHARE: Final = curve(
    "environment/done_share", "Share of rollouts that the environment ended, not a limit."
)
ENVIRONMENT_ERRORS: Final = curve(
    "environment/errors", "Number of rollouts that were lost to failures of the environment."
)
LIMIT_STOP_SHARE: Final = curve(
    "rollouts/limit_stop_share",
    "Share of rollouts that ended at a limit (tokens, turns, time) instead of with an answer.",
    chart=("limits", "ended at a limit"),
)
ROLLOUTS_VALID: Final = curve(
    "rollouts/valid", "Number of rollouts that were graded; all means are over these."
)
DISCARDED_COUNT: Final = curve(
    "discarded/count",
    "Number of rollouts that were lost to failures of tools, environments or graders.",
)
DISCARDED_SHARE: Final = curve("discarded/share", "Share of rollouts that were lost so.")
curve(
    discarded_metric("<failure class>"),
    "Number of rollouts that were lost to failures of one class.",
)
curve(
    tool_metric("<tool>", "calls_mean"),
    "Mean calls of one tool in a rollout. `(unknown)` counts names that no tool has, "
    "`(unparsable)` calls that could not be parsed.",
)
curve(tool_metric("<tool>", "tokens_per_call"), "Mean tokens of its replies.")
curve(tool_metric("<tool>", "latency_s_mean"), "Mean seconds that its calls took.")
curve(tool_metric("<tool>", "retries"), "Number of attempts of its calls beyond the first.")
curve(
    tool_metric("<tool>", "errors"),
    "Number of its calls that were answered with an error that the policy reads.",
)
curve(tool_metric("<tool>", "errors/<kind>"), "Number of these of one kind.")
GRADER_ERROR_SHARE: Final = curve(
    "grader/error_share",
    "Share of rollouts whose grade carries an error flag, or whose grader failed, among "
    "those that reached the grader.",
    chart=("limits", "graders"),
)
# Graders: the whole grader, and each child of a `multi` grader
_OF_GRADERS: Final = {
    "latency_s_mean": "Mean seconds that a grade took.",
    "measured": "Number of rollouts that the grader scored.",
    "prompt_tokens": "Tokens of the judge's prompts, summed.",
    "prompt_tokens_mean": "Mean tokens of a judge's prompts for one grade; a judge of whole "
    "groups counts each rollout's share.",
    "completion_tokens": "Tokens that the judge wrote, summed.",
    "completion_tokens_mean": "Mean tokens that the judge wrote.",
    "cached_tokens": "Prompt tokens that the judge had in its cache, summed.",
    "cached_tokens_mean": "Mean prompt tokens that the judge had in its cache.",
    "judge_calls": "Answers of the judge, summed: the tokens divided by them are the cost of one "
    "question, of one about a whole group with a judge of groups.",
    "judge_calls_mean": "Mean answers of the judge for one grade.",
    "errors/<flag>": "Number of grades that carry one error flag.",
}
GRADER_LATENCY_MEAN: Final = grader_metric("", "latency_s_mean")
for _child in ("", "<child>"):
    for _what, _meaning in _OF_GRADERS.items():
        curve(grader_metric(_child, _what), _meaning)
curve(
    grader_metric("<child>", "discarded"),
    "Number of rollouts that were lost because this child failed.",
)
# Training
LOSS: Final = curve(
    "train/loss", "Loss of the step, before its update; of the held-out rows in validations."
)
GRAD_NORM: Final = curve(
    "train/grad_norm",
    "Norm of the gradient before it was clipped.",
    chart=("grad_norm", "gradient"),
)
LEARNING_RATE: Final = curve(
    "train/learning_rate", "Learning rate of the step.", chart=("learning_rate", "learning rate")
)
TRAINED_TOKENS: Final = curve(
    "train/tokens", "Tokens that the loss is divided by; their sum is `trained_tokens`."
)
COMPUTED_TOKENS: Final = curve(
    "train/computed_tokens", "Trained tokens that could move a weight: their advantage is not 0."
)
ENTROPY: Final = curve(
    "train/entropy",
    "Mean entropy of the policy, in nats per trained token.",
    chart=("entropy", "entropy"),
)
TOKEN_ACCURACY: Final = curve(
    "train/token_accuracy", "Share of trained tokens that are the most probable one."
)
BATCH_LOSS: Final = curve(
    "batch/loss", "Loss of a few held-out rows, between validations of all of them."
)
BATCH_TOKEN_ACCURACY: Final = curve("batch/token_accuracy", "Token accuracy of the same rows.")
SKIPPED_STEPS: Final = curve(
    "train/skipped_steps",
    "Optimizer steps that were left out because loss or gradient was not finite.",
)
SAMPLER_KL_K3: Final = curve(
    "train/sampler_kl_k3",
    "Distance of the trained policy from the one that sampled (KL, estimator k3).",
    chart=("distance", "from the sampler"),
)
SAMPLER_MAX_LOG_RATIO: Final = curve(
    "train/sampler_max_abs_log_ratio",
    "Largest difference of log-probs between sampler and trainer.",
)
CLIPPED_SHARE: Final = curve(
    "train/clipped_share",
    "Share of trained tokens whose ratio the loss clipped.",
    chart=("clipped", "clipped"),
)
MASKED_SHARE: Final = curve(
    "train/masked_share",
    "Share of trained tokens that `mismatch.sequence_mask` or `mismatch.max_log_ratio` left out.",
    chart=("clipped", "masked"),
)
TRUNCATED_SHARE: Final = curve(
    "train/truncated_share",
    "Share of trained tokens that `mismatch.truncation` weighed less.",
    chart=("clipped", "truncated"),
)
BASE_KL_K1: Final = curve(
    "train/base_kl",
    "Distance of the policy from the model that training started from (KL, estimator k1).",
    chart=("distance", "from the start"),
)
GROUPS_TRAINED: Final = curve(
    "groups/trained", "Number of groups that the step trained on.", chart=("groups", "trained")
)
GROUPS_ZERO_VARIANCE: Final = curve(
    "groups/zero_variance",
    "Number of groups whose rollouts are all worth the same, which train nothing.",
    chart=("groups", "zero variance"),
)
GROUPS_MASKED: Final = curve(
    "groups/masked",
    "Number of groups with too few graded rollouts.",
    chart=("groups", "too few graded"),
)
# Pairs
PREFERENCE_LOGPROB_ACCURACY: Final = curve(
    "preference/logprob_accuracy",
    "Share of pairs whose preferred answer is more probable than the rejected one.",
    chart=("preference", "more probable"),
)
PREFERENCE_CHOSEN_LOGPROB: Final = curve(
    "preference/chosen_logprob", "Mean log-prob of a whole preferred answer."
)
PREFERENCE_REJECTED_LOGPROB: Final = curve(
    "preference/rejected_logprob", "Mean log-prob of a whole rejected answer."
)
PREFERENCE_ACCURACY: Final = curve(
    "preference/accuracy",
    "Share of pairs whose preferred answer has the higher implicit reward. The model that "
    "training started from has 0 by definition.",
    chart=("preference", "higher implicit reward"),
)
PREFERENCE_MARGIN: Final = curve(
    "preference/margin",
    "Mean implicit reward of the preferred answer less that of the rejected one.",
)
PREFERENCE_CHOSEN_REWARD: Final = curve(
    "preference/chosen_reward",
    "Mean implicit reward of the preferred answers: beta times their log-prob less that "
    "under the model that training started from. Below 0 they have become less probable.",
)
PREFERENCE_REJECTED_REWARD: Final = curve(
    "preference/rejected_reward", "The same of the rejected answers."
)
# Time and overlap
STALENESS_MEAN: Final = curve(
    "staleness/mean",
    "Mean number of versions published between a rollout's dispatch and its training.",
    chart=("staleness", "mean"),
)
STALENESS_MAX: Final = curve(
    "staleness/max", "Largest number of such versions.", chart=("staleness", "largest")
)
STALE_DISCARDED_SHARE: Final = curve(
    "staleness/discarded_share", "Share of rollouts that were given up because they became too old."
)
GROUP_SECONDS: Final = curve(
    "staleness/group_s_mean", "Mean seconds from the dispatch of a trained group to its end."
)
GIVEN_UP_GROUP_SECONDS: Final = curve(
    "staleness/given_up_group_s_mean",
    "Mean seconds that the groups given up had lasted. Far above the line before, training "
    "prefers rollouts that are fast.",
)
QUEUE_DEPTH: Final = curve("queue/depth", "Finished rollouts that wait for a later step.")
QUEUE_IN_FLIGHT: Final = curve("queue/in_flight", "Rollouts that are dispatched and not finished.")
TRAINER_IDLE_SHARE: Final = curve(
    "idle/trainer_share",
    "Share of the step's time in which the trainer waited.",
    chart=("idle", "trainer"),
)
SAMPLER_IDLE_SHARE: Final = curve(
    "idle/sampler_share",
    "Share of the step's time without a request at the engine.",
    chart=("idle", "sampler"),
)
PROBE_MAX_DIFF: Final = curve(
    "publish/probe_max_abs_logprob_diff",
    "Largest difference of log-probs between engine and trainer on fixed tokens, after the "
    "adapter was published.",
)
TIME_SAMPLING: Final = curve("time/sampling_s", "Seconds of sampling.", chart=("time", "sampling"))
TIME_TRAINING: Final = curve("time/training_s", "Seconds of training.", chart=("time", "training"))
TIME_PUBLISH: Final = curve(
    "time/publish_s",
    "Seconds until the engine served the new adapter.",
    chart=("time", "publishing"),
)
TIME_EVAL: Final = curve("time/eval_s", "Seconds of the validation.", chart=("time", "validation"))
TIME_STEP: Final = curve(
    "time/step_s",
    "Seconds of the whole step, with publishing and validation.",
    chart=("time", "whole step"),
)

OBJECTIVE_TERMS: Final = (
    *("clamped", "token_penalty", "call_budget_penalty", "repeated_call_penalty"),
    "overlong_penalty",
)
"""Terms of the objective; each has a curve of its mean deduction from a rollout's reward."""
TIE: Final = 1e-9
"""Largest difference of two equal values, rewards or losses: it is a rounding error."""
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
ANSWER_FLAGS: Final = ("model_grader_refusal_error", "model_grader_parse_error")
"""Flags of a judge that answered without a score, so that the rollout has no grade."""


def discarded_class(name: str) -> str | None:
    if not name.startswith(_DISCARDED) or name in (DISCARDED_COUNT, DISCARDED_SHARE):
        return None
    return name.removeprefix(_DISCARDED)


def discard_values(values: Mapping[str, float]) -> dict[str, float]:
    return {
        name.removeprefix(_DISCARDED): value
        for name, value in sorted(values.items())
        if name.startswith(_DISCARDED)
    }


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
    dropped = sorted(name for name, value in values.items() if not math.isfinite(value))
    for name in dropped:
        del values[name]
    return dropped


_COMPARED: Final = 80
_SUGGESTED: Final = 5

_STANDS_FOR: Final = {
    "<tool>": "a tool's name",
    "<name>": "a component's name",
    "<tag>": "a tag of the rows",
    "<child>": "the name of a child of a 'multi' grader",
    "<kind>": "a kind of error",
    "<flag>": f"an error flag ({', '.join(GRADER_ERROR_FLAGS)})",
    "<failure class>": f"a failure class ({', '.join(FailureClass)})",
}
JobPart = Literal["<tool>", "<child>", "<name>", "<tag>"]
_JOB_PARTS: Final[tuple[JobPart, ...]] = get_args(JobPart)
_PLACEHOLDER: Final = re.compile("|".join(map(re.escape, _STANDS_FOR)))

SPLITS: Final[Mapping[Split, str]] = MappingProxyType(
    {
        "train": "training rollouts or rows, at every step",
        "valid": "held-out rows, at every validation; step 0 is the model that training started "
        "from",
        "valid_greedy": "one rollout of each held-out row at temperature 0 (reinforcement)",
        "valid_base": "held-out rows under the base model, at step 0 of a job that starts from a "
        "tuned one",
        "report": "held-out rows sampled afresh for the report, under the published step and, as "
        "step 0, under the model that training started from (reinforcement)",
    }
)


_PARTS: Final = {
    "<tool>": "[^/]+",
    "<failure class>": "|".join(FailureClass),
    "<flag>": "|".join(GRADER_ERROR_FLAGS),
}


def _pattern(name: str, allowed: Mapping[str, str] = _PARTS) -> re.Pattern[str]:
    parts = re.split(r"(<[^>]+>)", name)
    return re.compile(
        "".join(
            f"({allowed.get(part, '.+')})" if part.startswith("<") else re.escape(part)
            for part in parts
        ),
        re.DOTALL,
    )


_FORMS: Final = {name: _pattern(name, {}) for name in MEANINGS}
"""Regular expressions of names with any text in their parts, to find the name that was meant."""
_PATTERNS: Final = {name: _pattern(name) for name in MEANINGS if "<" in name}


def meaning(name: str) -> str | None:
    if name in MEANINGS:
        return MEANINGS[name]
    return next(
        (MEANINGS[form] for form, as_sent in _PATTERNS.items() if as_sent.fullmatch(name)), None
    )


def part_of(name: str) -> tuple[JobPart, str] | None:
    if name in MEANINGS:
        return None
    for form, pattern in _PATTERNS.items():
        if found := pattern.fullmatch(name):
            parts = dict(zip(_PLACEHOLDER.findall(form), found.groups(), strict=True))
            return next(((part, parts[part]) for part in _JOB_PARTS if part in parts), None)
    return None


def check_names(sent: Iterable[str]) -> None:
    wrong = (name for name in sent if _PLACEHOLDER.search(name) or meaning(name) is None)
    unknown = next(wrong, None)
    if unknown is None:
        return
    shown = unknown[:_COMPARED]
    nearest = sorted(
        MEANINGS,
        key=lambda name: (
            _FORMS[name].fullmatch(shown) is not None,
            SequenceMatcher(None, name, shown).ratio(),
        ),
        reverse=True,
    )
    suggested = nearest[:_SUGGESTED]
    listed = ", ".join(f"'{name}'" for name in suggested)
    parts = dict.fromkeys(part for name in suggested for part in _PLACEHOLDER.findall(name))
    cure = "".join(f" Put {_STANDS_FOR[part]} in place of '{part}'." for part in parts)
    raise InvalidRequest(
        f"Invalid value for 'names': no curve is called '{shown}'. Of {len(MEANINGS)} curves the "
        f"nearest are {listed}; the description of this call lists all.{cure}",
        param="names",
        code="invalid_value",
    )
