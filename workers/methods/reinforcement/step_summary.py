"""The curves, events and usage of a step. Discarded rollouts count in `discarded/*` alone: no
failure is a zero.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any

from typing_extensions import override

from app.graders import metrics as grader_metrics
from app.graders.definitions import Grader
from app.jobs.jobs import Usage
from app.kit.ids import VALID_BASE
from app.rollouts import metrics as names
from app.rollouts.metrics import COMPLETION_TOKENS_MEAN, REWARD_MEAN
from app.rollouts.trajectory import (
    ENVIRONMENT_FAILURES,
    GRADER_FAILURES,
    UNKNOWN_TOOL,
    FailureClass,
    Grade,
    ScoredRollout,
    StopReason,
    ToolCallRecord,
)
from workers.runs.step_outcome import StepOutcome, TrainedStep, Validation, Values


def summarise(rollouts: Sequence[ScoredRollout]) -> dict[str, float]:
    valid = [rollout for rollout in rollouts if rollout.grade is not None]
    values = count_losses(rollouts)
    values.update(_rewards(valid))
    values.update(_graders(rollouts))
    values.update(_environment(rollouts))
    if valid:
        values.update(_lengths(valid))
        values.update(_tool_use(valid))
    return values


def tag_means(
    rollouts: Sequence[ScoredRollout], slices: Mapping[int, AbstractSet[str]]
) -> dict[str, float]:
    """Returns the mean reward of each tag of the rollouts' rows. `slices`: tags by row number."""
    rewards: dict[str, list[float]] = defaultdict(list)
    for rollout in rollouts:
        if rollout.reward is not None:
            for tag in slices.get(rollout.key.prompt_index, ()):
                rewards[names.tag_metric(tag)].append(rollout.reward)
    return {name: fmean(of_tag) for name, of_tag in rewards.items()}


def count_losses(rollouts: Sequence[ScoredRollout]) -> dict[str, float]:
    valid = sum(rollout.grade is not None for rollout in rollouts)
    return {names.ROLLOUTS_VALID: float(valid), **_discards(rollouts), **_grader_errors(rollouts)}


def _grader_errors(rollouts: Sequence[ScoredRollout]) -> dict[str, float]:
    failed = _lost_to(GRADER_FAILURES, rollouts)
    graded = [rollout.grade for rollout in rollouts if rollout.grade is not None]
    flagged = sum(_is_flagged(grade) for grade in graded)
    reached = failed + len(graded)
    return {names.GRADER_ERROR_SHARE: (failed + flagged) / reached} if reached else {}


def _lost_to(classes: AbstractSet[FailureClass], rollouts: Sequence[ScoredRollout]) -> int:
    failures = (rollout.failure for rollout in rollouts)
    return sum(one is not None and one.failure_class in classes for one in failures)


def _is_flagged(grade: Grade) -> bool:
    return any(
        what.startswith("errors/") and value
        for measured in grade.measures.values()
        for what, value in measured.items()
    )


def valid_share(rollouts: Sequence[ScoredRollout]) -> float:
    return sum(rollout.grade is not None for rollout in rollouts) / max(1, len(rollouts))


def _discards(rollouts: Sequence[ScoredRollout]) -> dict[str, float]:
    failures = [rollout.failure for rollout in rollouts if rollout.failure is not None]
    counts = Counter(failure.failure_class.value for failure in failures)
    children = Counter(failure.child for failure in failures if failure.child is not None)
    return {
        **{names.discarded_metric(kind): float(count) for kind, count in counts.items()},
        names.DISCARDED_COUNT: float(len(failures)),
        names.DISCARDED_SHARE: len(failures) / max(1, len(rollouts)),
        **{names.grader_metric(child, "discarded"): float(n) for child, n in children.items()},
    }


def _rewards(valid: Sequence[ScoredRollout]) -> dict[str, float]:
    grades = [rollout.grade for rollout in valid if rollout.grade is not None]
    if not grades:
        return {}
    scores = [grade.score for grade in grades]
    components: dict[str, list[float]] = defaultdict(list)
    for grade in grades:
        for name, value in grade.components.items():
            components[name].append(value)
    return {
        names.REWARD_MEAN: fmean(scores),
        names.REWARD_STD: pstdev(scores),
        names.REWARD_MIN: min(scores),
        names.REWARD_MAX: max(scores),
        names.REWARD_P10: _percentile(scores, 10),
        names.REWARD_P90: _percentile(scores, 90),
        names.GRADER_LATENCY_MEAN: fmean(grade.latency_s for grade in grades),
        **{names.component_metric(name): fmean(c) for name, c in components.items()},
    }


def _percentile(scores: Sequence[float], percent: int) -> float:
    rank, part = divmod((len(scores) - 1) * percent, 100)
    low, high = sorted([*scores, max(scores)])[rank : rank + 2]
    return low if part == 0 else min(high, low + (high - low) * (part / 100))


def _graders(rollouts: Sequence[ScoredRollout]) -> dict[str, float]:
    measures: dict[str, list[dict[str, float]]] = defaultdict(list)
    scored = Counter[str]()
    for rollout in rollouts:
        verdict = rollout.grade or rollout.failure
        for child, measured in ({} if verdict is None else verdict.measures).items():
            measures[child].append(measured)
            scored[child] += rollout.grade is not None
    values: dict[str, float] = {}
    for child, its_own in measures.items():
        values[names.grader_metric(child, "measured")] = float(scored[child])
        values.update(_one_grader(child, its_own))
    return values


def _one_grader(child: str, measures: list[dict[str, float]]) -> dict[str, float]:
    named: dict[str, list[float]] = defaultdict(list)
    for measured in measures:
        for what, value in measured.items():
            named[what].append(value)
    values: dict[str, float] = {}
    for what, numbers in named.items():
        name = names.grader_metric(child, what)
        if what == "latency_s":
            values[f"{name}_mean"] = fmean(numbers)
        elif what.startswith("errors/"):
            values[name] = sum(numbers)
        else:
            values[name], values[f"{name}_mean"] = sum(numbers), fmean(numbers)
    return values


def _lengths(valid: Sequence[ScoredRollout]) -> dict[str, float]:
    trajectories = [rollout.trajectory for rollout in valid]
    limits = sum(t.stop_reason is not StopReason.FINAL_ANSWER for t in trajectories)
    return {
        names.COMPLETION_TOKENS_MEAN: fmean(t.completion_tokens for t in trajectories),
        names.REASONING_TOKENS_MEAN: fmean(t.reasoning_tokens for t in trajectories),
        names.PROMPT_TOKENS_MEAN: fmean(t.prompt_tokens for t in trajectories),
        names.TURNS_MEAN: fmean(len(t.turns) for t in trajectories),
        names.ROWS_MEAN: fmean(len(t.rows) for t in trajectories),
        names.TOOL_PARSE_ERRORS_MEAN: fmean(
            sum(turn.parse_error is not None for turn in t.turns) for t in trajectories
        ),
        names.LIMIT_STOP_SHARE: limits / len(trajectories),
    }


def _environment(rollouts: Sequence[ScoredRollout]) -> dict[str, float]:
    lost = _lost_to(ENVIRONMENT_FAILURES, rollouts)
    played = [
        (rollout.trajectory.environment_steps, reward)
        for rollout in rollouts
        if rollout.grade is not None
        and (reward := rollout.trajectory.environment_reward) is not None
    ]
    values = {names.ENVIRONMENT_ERRORS: float(lost)} if lost or played else {}
    if not played:
        return values
    steps = [step for its_own, _ in played for step in its_own]
    values[names.ENVIRONMENT_STEPS_MEAN] = len(steps) / len(played)
    values[names.ENVIRONMENT_DONE_SHARE] = fmean(reward.done for _, reward in played)
    retries = sum(max(0, step.attempts - 1) for step in steps)
    values[names.ENVIRONMENT_RETRIES_MEAN] = retries / len(played)
    if steps:
        values[names.ENVIRONMENT_LATENCY_MEAN] = fmean(step.latency_s for step in steps)
    given = [reward.reward for _, reward in played if reward.reward is not None]
    if given:
        values[names.ENVIRONMENT_REWARD_MEAN] = fmean(given)
    return values


def _tool_use(valid: Sequence[ScoredRollout]) -> dict[str, float]:
    calls = [call for rollout in valid for call in rollout.trajectory.tool_calls]
    values = {
        names.TOOL_CALLS_MEAN: len(calls) / len(valid),
        names.TOOL_CALLS_REPEATED_MEAN: sum(call.repeated for call in calls) / len(valid),
        names.TOOL_RETRIES_MEAN: _retries(calls) / len(valid),
    }
    by_tool: dict[str, list[ToolCallRecord]] = defaultdict(list)
    for call in calls:
        # A name the model made up is not a curve of its own: there could be any number of them.
        by_tool[UNKNOWN_TOOL if call.error == "unknown_tool" else call.name].append(call)
    for tool, its_calls in by_tool.items():
        values.update(_one_tool(tool, its_calls, rollouts=len(valid)))
    return values


def _retries(calls: Iterable[ToolCallRecord]) -> int:
    return sum(max(0, call.attempts - 1) for call in calls)


def _one_tool(tool: str, calls: list[ToolCallRecord], *, rollouts: int) -> dict[str, float]:
    errors = Counter(call.error for call in calls if call.error is not None)
    return {
        names.tool_metric(tool, "calls_mean"): len(calls) / rollouts,
        names.tool_metric(tool, "tokens_per_call"): fmean(call.output_tokens for call in calls),
        names.tool_metric(tool, "latency_s_mean"): fmean(call.latency_s for call in calls),
        names.tool_metric(tool, "retries"): float(_retries(calls)),
        names.tool_metric(tool, "errors"): float(errors.total()),
        **{names.tool_metric(tool, f"errors/{kind}"): float(n) for kind, n in errors.items()},
    }


@dataclass(frozen=True, slots=True)
class SampledStep(TrainedStep):
    rollouts: Sequence[ScoredRollout] = ()

    @override
    def scored_rollouts(self) -> Sequence[ScoredRollout]:
        return self.rollouts


@dataclass(frozen=True, slots=True)
class SampledValidation(Validation):
    rollouts: Sequence[ScoredRollout] = ()
    """Rollouts of the split `valid`, at the job's temperature of validations."""
    further_rollouts: Sequence[ScoredRollout] = ()
    """Greedy rollouts, and those of a base model that the job does not start from."""

    @override
    def scored_rollouts(self) -> Sequence[ScoredRollout]:
        return [*self.rollouts, *self.further_rollouts]


class ReinforcementStepReport:
    nothing_trained = (
        "no group had rollouts of different reward. Use rows of which the model gets some right, a "
        "grader that gives partial credit, or more rollouts per row (compute_multiplier)"
    )

    def __init__(self, grader: Grader, *, start_model: str | None = None) -> None:
        self._grader = grader.model_dump(mode="json")
        self._start_model = start_model

    def baseline(self, outcome: StepOutcome) -> Sequence[str]:
        if self._start_model is None:
            return [f"Base model: {_validated(outcome)}"]
        start = f"Start model {self._start_model}: {_validated(outcome)}"
        of_base = outcome.validation.further.get(VALID_BASE)
        return [start] if of_base is None else [start, f"Base model: {_mean_reward(of_base)}"]

    def validation(self, outcome: StepOutcome) -> str:
        return f"Step {outcome.step}: {_validated(outcome)}"

    def step(self, outcome: StepOutcome, total_steps: int) -> tuple[str, dict[str, Any]]:
        train, valid = outcome.train_values, outcome.valid_values
        return event_message(outcome.step, total_steps, train, valid), event_data(
            step=outcome.step,
            total_steps=total_steps,
            grader=self._grader,
            train=train,
            valid=valid,
        )

    def makes_checkpoint(self, outcome: StepOutcome) -> bool:
        return bool(outcome.valid_values)

    def checkpoint(self, outcome: StepOutcome) -> dict[str, float]:
        values = {
            "train_mean_reward": outcome.train_values.get(REWARD_MEAN),
            "full_valid_mean_reward": outcome.valid_values.get(REWARD_MEAN),
            "completion_tokens_mean": outcome.train_values.get(COMPLETION_TOKENS_MEAN),
        }
        return {key: value for key, value in values.items() if value is not None}

    def usage(self, outcome: StepOutcome) -> Usage:
        validation = outcome.validation
        rollouts = [*outcome.trained.scored_rollouts(), *validation.scored_rollouts()]
        trajectories = [rollout.trajectory for rollout in rollouts]
        train = outcome.train_values
        return Usage(
            sampling_time_s=train.get(names.TIME_SAMPLING, 0.0),
            update_time_s=train.get(names.TIME_TRAINING, 0.0),
            evaluation_time_s=validation.seconds or 0.0,
            rollouts=len(rollouts),
            prompt_tokens=sum(trajectory.prompt_tokens for trajectory in trajectories),
            completion_tokens=sum(trajectory.completion_tokens for trajectory in trajectories),
            tool_calls=sum(len(trajectory.tool_calls) for trajectory in trajectories),
            grader_calls=sum(rollout.grader_calls for rollout in rollouts),
            trained_tokens=outcome.trained_tokens,
            model_graders=self._judge_tokens(outcome),
        )

    def _judge_tokens(self, outcome: StepOutcome) -> dict[str, Values]:
        total = grader_metrics.usage_by_model(
            self._grader, outcome.train_values, outcome.valid_values
        )
        summed = {model: dict(values) for model, values in total.items()}
        for further in outcome.validation.further.values():
            for model, values in grader_metrics.usage_by_model(self._grader, {}, further).items():
                own = summed.setdefault(model, {})
                for key, value in values.items():
                    own[key] = own.get(key, 0.0) + value
        return summed


def _validated(outcome: StepOutcome) -> str:
    return _mean_reward(outcome.valid_values)


def _mean_reward(values: Values) -> str:
    reward = values.get(REWARD_MEAN)
    shown = "none" if reward is None else f"{reward:.2f}"
    return f"full validation mean reward={shown}"


def event_message(step: int, total_steps: int, train: Values, valid: Values) -> str:
    text = f"Step {step}/{total_steps}"
    if names.REWARD_MEAN in train:
        text += f" , train mean reward={train[names.REWARD_MEAN]:.2f}"
    if names.REWARD_MEAN in valid:
        text += f", full validation mean reward={valid[names.REWARD_MEAN]:.2f}"
        text += f", full validation mean parse error={_parse_error(valid):.2f}"
    return text


def event_data(
    *, step: int, total_steps: int, grader: dict[str, Any], train: Values, valid: Values
) -> dict[str, Any]:
    train_reward, valid_reward = train.get(names.REWARD_MEAN), valid.get(names.REWARD_MEAN)
    return {
        "step": step,
        "total_steps": total_steps,
        "usage": {
            "graders": grader_metrics.usage(grader, train, valid),
            "samples": _samples(train, valid),
            "tools": _tools(train, valid, ("calls_mean", "tokens_per_call")),
        },
        "errors": {
            "graders": grader_metrics.errors(grader, train, valid),
            "formula": grader_metrics.formula_errors(train, valid) if grader.get("graders") else {},
            "tools": _tools(train, valid, ("errors",)),
            "discarded": names.discard_values(train),
        },
        "scores": {
            "train_reward_mean": train_reward,
            "valid_reward_mean": valid_reward,
            "graders": grader_metrics.scores(grader, train, valid),
        },
        "timing": {
            "step": {
                "eval": train.get(names.TIME_EVAL, 0.0),
                "sampling": train.get(names.TIME_SAMPLING, 0.0),
                "training": train.get(names.TIME_TRAINING, 0.0),
                "full_iteration": train.get(names.TIME_STEP, 0.0),
            },
            "graders": grader_metrics.timing(grader, train, valid),
            "tools": _tools(train, valid, ("latency_s_mean",)),
        },
        "train_mean_reward": train_reward,
        "full_valid_mean_reward": valid_reward,
        "reasoning_tokens_mean": train.get(names.REASONING_TOKENS_MEAN),
        "completion_tokens_mean": train.get(names.COMPLETION_TOKENS_MEAN),
        "valid_reasoning_tokens_mean": valid.get(names.REASONING_TOKENS_MEAN),
        "tool_calls_mean": train.get(names.TOOL_CALLS_MEAN),
        "mean_unresponsive_rewards": train.get(names.DISCARDED_SHARE),
        "full_valid_mean_parse_error": _parse_error(valid) if valid else None,
        "model_graders_token_usage": grader_metrics.usage_by_model(grader, train, valid),
    }


def _parse_error(valid: Values) -> float:
    return valid.get(names.TOOL_PARSE_ERRORS_MEAN, 0.0)


def _samples(train: Values, valid: Values) -> dict[str, float]:
    samples: dict[str, float] = {}
    for split, values in (("train", train), ("valid", valid)):
        if names.REASONING_TOKENS_MEAN in values:
            samples[f"{split}_reasoning_tokens_mean"] = values[names.REASONING_TOKENS_MEAN]
            samples[f"{split}_reasoning_tokens_count"] = values.get(names.ROLLOUTS_VALID, 0.0)
    return samples


def _tools(train: Values, valid: Values, fields: tuple[str, ...]) -> list[dict[str, Any]]:
    parsed = map(names.ToolMetric.parse, [*train, *valid])
    tools = sorted({metric.tool for metric in parsed if metric is not None})
    return [
        {
            "name": tool,
            **{
                f"{split}_{field}": values[names.tool_metric(tool, field)]
                for split, values in (("train", train), ("valid", valid))
                for field in fields
                if names.tool_metric(tool, field) in values
            },
        }
        for tool in tools
    ]
