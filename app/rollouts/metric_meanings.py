"""Meanings of the curves that a job writes, for the API's description and `docs/metrics.md`.

A part of a name in angle brackets stands for a tool, a grader, a component or a failure class; a
name that is sent with one is refused.
"""

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from types import MappingProxyType
from typing import Final, Literal, get_args

from app.kit.errors import InvalidRequest
from app.kit.ids import Split
from app.rollouts import metrics as names
from app.rollouts.trajectory import FailureClass

_COMPARED: Final = 80
"""Largest number of characters of an unknown name that are compared with the known ones."""
_SUGGESTED: Final = 5

_STANDS_FOR: Final = {
    "<tool>": "a tool's name",
    "<name>": "a component's name",
    "<child>": "the name of a child of a 'multi' grader",
    "<kind>": "a kind of error",
    "<flag>": f"an error flag ({', '.join(names.GRADER_ERROR_FLAGS)})",
    "<failure class>": f"a failure class ({', '.join(FailureClass)})",
}
JobPart = Literal["<tool>", "<child>", "<name>"]
_JOB_PARTS: Final[tuple[JobPart, ...]] = get_args(JobPart)
"""Placeholders for parts that depend on the job."""
_PLACEHOLDER: Final = re.compile("|".join(map(re.escape, _STANDS_FOR)))
"""A placeholder in a listed name."""

_OF_ROLLOUTS: Final = {
    names.REWARD_MEAN: "Mean reward that the grader gave, without the penalties of `objective`.",
    names.REWARD_STD: "Standard deviation of these rewards.",
    names.REWARD_MIN: "Lowest of these rewards.",
    names.REWARD_MAX: "Highest of these rewards.",
    names.REWARD_P10: "Their 10th percentile: a tenth of the rollouts earned less.",
    names.REWARD_P90: "Their 90th percentile: a tenth of the rollouts earned more.",
    names.OBJECTIVE_MEAN: "Mean reward less all terms of `objective`; advantages are computed from "
    "it.",
    names.objective_metric("clamped"): "Mean that `clamp_limit_stop` took from the reward.",
    names.objective_metric("token_penalty"): "Mean that the penalty on tokens took.",
    names.objective_metric("call_budget_penalty"): "Mean that calls over the budget took.",
    names.objective_metric("repeated_call_penalty"): "Mean that repeated calls took.",
    names.objective_metric("overlong_penalty"): "Mean that `overlong` took.",
    names.component_metric("<name>"): "Mean of a number that the grader reports beside the reward, "
    "or of a child of a `multi` grader, over the rollouts that have it.",
    names.COMPLETION_TOKENS_MEAN: "Mean tokens that the policy wrote in a rollout.",
    names.REASONING_TOKENS_MEAN: "Mean tokens of reasoning among them.",
    names.PROMPT_TOKENS_MEAN: "Mean tokens of the prompt.",
    names.TURNS_MEAN: "Mean turns of the policy in a rollout.",
    names.TOOL_CALLS_MEAN: "Mean tool calls in a rollout.",
    names.TOOL_CALLS_REPEATED_MEAN: "Mean calls with the name and arguments of an earlier one of "
    "the same rollout.",
    names.TOOL_RETRIES_MEAN: "Mean attempts of a rollout's calls beyond the first.",
    names.TOOL_PARSE_ERRORS_MEAN: "Mean turns of a rollout that could not be parsed as a tool call "
    "or an answer.",
    names.ENVIRONMENT_STEPS_MEAN: "Mean steps of the HTTP environment in a rollout.",
    names.ENVIRONMENT_LATENCY_MEAN: "Mean seconds that a step took.",
    names.ENVIRONMENT_RETRIES_MEAN: "Mean attempts of a rollout's steps beyond the first.",
    names.ENVIRONMENT_REWARD_MEAN: "Mean sum of the rewards of a rollout's steps, whichever "
    "grader gives the reward.",
    names.ENVIRONMENT_DONE_SHARE: "Share of rollouts that the environment ended, not a limit.",
    names.ENVIRONMENT_ERRORS: "Number of rollouts that were lost to failures of the environment.",
    names.LIMIT_STOP_SHARE: "Share of rollouts that ended at a limit (tokens, turns, time) instead "
    "of with an answer.",
    names.ROLLOUTS_VALID: "Number of rollouts that were graded; all means are over these.",
    names.DISCARDED_COUNT: "Number of rollouts that were lost to failures of tools, "
    "environments or graders.",
    names.DISCARDED_SHARE: "Share of rollouts that were lost so.",
    names.discarded_metric("<failure class>"): "Number of rollouts that were lost to failures of "
    "one class.",
    names.tool_metric("<tool>", "calls_mean"): "Mean calls of one tool in a rollout. `(unknown)` "
    "counts names that no tool has, `(unparsable)` calls that could not be parsed.",
    names.tool_metric("<tool>", "tokens_per_call"): "Mean tokens of its replies.",
    names.tool_metric("<tool>", "latency_s_mean"): "Mean seconds that its calls took.",
    names.tool_metric("<tool>", "retries"): "Number of attempts of its calls beyond the first.",
    names.tool_metric("<tool>", "errors"): "Number of its calls that were answered with an error "
    "that the policy reads.",
    names.tool_metric("<tool>", "errors/<kind>"): "Number of these of one kind.",
    names.GRADER_ERROR_SHARE: "Share of rollouts whose grade carries an error flag, or whose "
    "grader failed, among those that reached the grader.",
}
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
"""Meanings of curves that exist for the whole grader and for each child of a `multi` grader."""
_OF_TRAINING: Final = {
    names.LOSS: "Loss of the step, before its update; of the held-out rows in validations.",
    names.GRAD_NORM: "Norm of the gradient before it was clipped.",
    names.LEARNING_RATE: "Learning rate of the step.",
    names.TRAINED_TOKENS: "Tokens that the loss is divided by; their sum is `trained_tokens`.",
    names.COMPUTED_TOKENS: "Trained tokens that could move a weight: their advantage is not 0.",
    names.ENTROPY: "Mean entropy of the policy, in nats per trained token.",
    names.TOKEN_ACCURACY: "Share of trained tokens that are the most probable one.",
    names.BATCH_LOSS: "Loss of a few held-out rows, between validations of all of them.",
    names.BATCH_TOKEN_ACCURACY: "Token accuracy of the same rows.",
    names.SKIPPED_STEPS: "Optimizer steps that were left out because loss or gradient was not "
    "finite.",
    names.SAMPLER_KL_K3: "Distance of the trained policy from the one that sampled (KL, estimator "
    "k3).",
    names.SAMPLER_MAX_LOG_RATIO: "Largest difference of log-probs between sampler and trainer.",
    names.CLIPPED_SHARE: "Share of trained tokens whose ratio the loss clipped.",
    names.MASKED_SHARE: "Share of trained tokens that `mismatch.sequence_mask` or "
    "`mismatch.max_log_ratio` left out.",
    names.TRUNCATED_SHARE: "Share of trained tokens that `mismatch.truncation` weighed less.",
    names.BASE_KL_K1: "Distance of the policy from the model that training started from (KL, "
    "estimator k1).",
    names.GROUPS_TRAINED: "Number of groups that the step trained on.",
    names.GROUPS_ZERO_VARIANCE: "Number of groups whose rollouts are all worth the same, which "
    "train nothing.",
    names.GROUPS_MASKED: "Number of groups with too few graded rollouts.",
}
_OF_PAIRS: Final = {
    names.PREFERENCE_LOGPROB_ACCURACY: "Share of pairs whose preferred answer is more probable "
    "than the rejected one.",
    names.PREFERENCE_CHOSEN_LOGPROB: "Mean log-prob of a whole preferred answer.",
    names.PREFERENCE_REJECTED_LOGPROB: "Mean log-prob of a whole rejected answer.",
    names.PREFERENCE_ACCURACY: "Share of pairs whose preferred answer has the higher implicit "
    "reward. The model that training started from has 0 by definition.",
    names.PREFERENCE_MARGIN: "Mean implicit reward of the preferred answer less that of the "
    "rejected one.",
    names.PREFERENCE_CHOSEN_REWARD: "Mean implicit reward of the preferred answers: beta times "
    "their log-prob less that under the model that training started from. Below 0 they have become "
    "less probable.",
    names.PREFERENCE_REJECTED_REWARD: "The same of the rejected answers.",
}
_OF_TIME: Final = {
    names.STALENESS_MEAN: "Mean number of versions published between a rollout's dispatch and its "
    "training.",
    names.STALENESS_MAX: "Largest number of such versions.",
    names.STALE_DISCARDED_SHARE: "Share of rollouts that were given up because they became too "
    "old.",
    names.GROUP_SECONDS: "Mean seconds from the dispatch of a trained group to its end.",
    names.GIVEN_UP_GROUP_SECONDS: "Mean seconds that the groups given up had lasted. Far above the "
    "line before, training prefers rollouts that are fast.",
    names.QUEUE_DEPTH: "Finished rollouts that wait for a later step.",
    names.QUEUE_IN_FLIGHT: "Rollouts that are dispatched and not finished.",
    names.TRAINER_IDLE_SHARE: "Share of the step's time in which the trainer waited.",
    names.SAMPLER_IDLE_SHARE: "Share of the step's time without a request at the engine.",
    names.PROBE_MAX_DIFF: "Largest difference of log-probs between engine and trainer on fixed "
    "tokens, after the adapter was published.",
    names.TIME_SAMPLING: "Seconds of sampling.",
    names.TIME_TRAINING: "Seconds of training.",
    names.TIME_PUBLISH: "Seconds until the engine served the new adapter.",
    names.TIME_EVAL: "Seconds of the validation.",
    names.TIME_STEP: "Seconds of the whole step, with publishing and validation.",
}

MEANINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **_OF_ROLLOUTS,
        **{names.grader_metric("", what): meaning for what, meaning in _OF_GRADERS.items()},
        **{
            names.grader_metric("<child>", what): meaning
            for what, meaning in {
                **_OF_GRADERS,
                "discarded": "Number of rollouts that were lost because this child failed.",
            }.items()
        },
        **_OF_TRAINING,
        **_OF_PAIRS,
        **_OF_TIME,
    }
)
"""A sentence for each curve, in the order of `docs/metrics.md`."""

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
    "<flag>": "|".join(names.GRADER_ERROR_FLAGS),
}
"""Regular expressions of the placeholders with a restricted syntax: a tool's name contains no
slash.
"""


def _pattern(name: str, allowed: Mapping[str, str] = _PARTS) -> re.Pattern[str]:
    """Returns the regular expression for names of this form."""
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
    """Returns the meaning of a curve, or `None` for a name that is not on the list."""
    if name in MEANINGS:
        return MEANINGS[name]
    return next(
        (MEANINGS[form] for form, as_sent in _PATTERNS.items() if as_sent.fullmatch(name)), None
    )


def part_of(name: str) -> tuple[JobPart, str] | None:
    """Returns the part of a curve's name that is a tool, child or component of one job."""
    if name in MEANINGS:
        return None
    for form, pattern in _PATTERNS.items():
        if found := pattern.fullmatch(name):
            parts = dict(zip(_PLACEHOLDER.findall(form), found.groups(), strict=True))
            return next(((part, parts[part]) for part in _JOB_PARTS if part in parts), None)
    return None


def check_names(sent: Iterable[str]) -> None:
    """Raises `InvalidRequest` for the first name that no job's curve can have."""
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
