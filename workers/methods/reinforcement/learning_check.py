"""Ends a run in which nothing can be learned. A kill changes nothing: committed rows are read."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel

from app.graders.definitions import AnyGrader
from app.graders.template_faults import parts_read
from app.jobs.intervals import FEWEST_DIFFERING, UNIT_RANGE, limits_of_mean
from app.jobs.learning import AUTO, NothingToLearnOptions, ObjectiveOptions, resolved_learning
from app.jobs.reinforcement import DEFAULT_MAX_EPISODE_STEPS, RUNS_CALLS, ReinforcementMethod
from app.kit.errors import NOTHING_TO_LEARN, RunFailed
from app.models.chat import NO_ROOM_CURE, full_context
from app.rollouts.metrics import TIE
from app.rollouts.rollouts import RolloutRow, last_turn
from app.rollouts.trajectory import StopReason
from workers.methods.reinforcement.evaluation import collect_held_out
from workers.methods.reinforcement.rows import Plan
from workers.runs.context import RunContext
from workers.runs.job import nothing_trained
from workers.runs.reporter import Reporter

_ROOT: Final = "method.reinforcement"
_CALLS: Final = frozenset({"tool_calls", "output_tools"})
_STOPS: Final = ("tool_call_collapse", "parse_errors")


@dataclass(slots=True)
class BaselineEffects:
    graded: int = 0
    calls: int = 0
    tokens: int = 0
    limit_stops: int = 0
    earned: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Lowest and highest score of each part."""

    def add(self, row: RolloutRow) -> None:
        self.graded += 1
        self.calls = max(self.calls, row.tool_calls)
        self.tokens = max(self.tokens, row.completion_tokens)
        self.limit_stops += row.stop_reason not in (None, StopReason.FINAL_ANSWER)
        for name, score in row.components.items():
            low, high = self.earned.get(name, (score, score))
            self.earned[name] = min(low, score), max(high, score)

    def warnings(self, method: ReinforcementMethod) -> Iterator[str]:
        idle = list(_counting_calls(method))
        if not self.calls and (idle or method.runs_calls):
            nothing = f", so that nothing shows in {', '.join(idle)}" if idle else ""
            cure = "" if method.runs_calls else f". The job runs calls with {RUNS_CALLS} alone"
            yield f"None of the {self._rollouts} called a tool of the job{nothing}{cure}."
        ends = method.grader.part_ends
        for name, worst in ({} if ends is None else ends.worst).items():
            if self.earned.get(name) == (worst, worst):
                yield (
                    f"The part '{name}' of the grader gave {worst:g}, its worst, to each of the "
                    f"{self._rollouts}: it rewards nothing that the model does yet."
                )

    def unused_terms(self, objective: ObjectiveOptions) -> str | None:
        found = list[str]()
        budget, overlong = objective.call_budget, objective.overlong
        if objective.token_budget != AUTO and not objective.token_penalty:
            found.append("'token_budget' (the 'token_penalty' is 0)")
        if budget is None:
            if objective.call_budget_penalty != _default(objective, "call_budget_penalty"):
                found.append("'call_budget_penalty' (it takes a budget and a penalty)")
        elif not objective.call_budget_penalty:
            found.append("'call_budget' (the 'call_budget_penalty' is 0)")
        elif self.calls <= budget:
            found.append(f"'call_budget' (at most {self.calls} calls)")
        if objective.repeated_call_penalty and self.calls < 2:  # noqa: PLR2004 - one repeats none
            found.append(f"'repeated_call_penalty' (at most {self.calls} calls)")
        if overlong is not None and overlong.resolved.begins >= self.tokens:
            found.append(f"'overlong' (at most {self.tokens} tokens)")
        if objective.clamp_limit_stop and not self.limit_stops:
            found.append("'clamp_limit_stop' (no limit stopped one)")
        if not found:
            return None
        return f"The {self._rollouts} lost nothing by '{_ROOT}.objective': {', '.join(found)}."

    @property
    def _rollouts(self) -> str:
        return f"{self.graded} validation rollouts of the base model"


def _counting_calls(method: ReinforcementMethod) -> Iterator[str]:
    if parts_read(method.grader) & _CALLS:
        yield f"'{_ROOT}.grader'"
    if method.max_episode_steps not in {None, DEFAULT_MAX_EPISODE_STEPS} and not method.runs_calls:
        yield f"'{_ROOT}.max_episode_steps'"
    stop = method.stop
    if stop is not None:
        for name in _STOPS:
            rule = getattr(stop, name)
            if rule != _default(stop, name) and rule.action != "off":
                yield f"'{_ROOT}.stop.{name}'"
    objective = method.objective
    if objective is not None and objective.call_budget is not None:
        yield f"'{_ROOT}.objective.call_budget'"
    if objective is not None and objective.repeated_call_penalty:
        yield f"'{_ROOT}.objective.repeated_call_penalty'"


def _default(options: BaseModel, name: str) -> object:
    """A stored method holds every default, so a field that was sent is one with another value."""
    return type(options).model_fields[name].get_default(call_default_factory=True)


LEAST_GRADED: Final = 5
"""Smallest number of graded rollouts for a decision."""
_DIGITS: Final = 9
"""Decimal digits by which rewards differ: those of `TIE`."""
_ERROR: Final = "errors/"
_EXCERPT: Final = 120
_GRADER: Final = "method.reinforcement.grader"
_OVERRIDE: Final = (
    'To train all the same, send method.reinforcement.nothing_to_learn {"action": "warn"}.'
)
_CURES: Final = {
    "invalid_variable_error": (
        "Let the template read what the model writes, such as sample.output_text, or ask for the "
        "format that it reads in the prompt, or teach it with a supervised job first"
    ),
    "formula_parse_error": "Correct calculate_output so that it has a value for these scores",
}
_OTHER_CURE: Final = "Try the grader on one answer with POST /v1/fine_tuning/alpha/graders/run"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    reason: str
    cure: str
    param: str | None = None
    certain: bool = True

    @property
    def message(self) -> str:
        return f"{self.reason}. {self.cure}. {_OVERRIDE}"


@dataclass(slots=True)
class LearnabilityCounts:
    graded: int = 0
    unanswered: int = 0
    longest_prompt: int = 0
    rewards: Counter[float] = field(default_factory=Counter)
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Counts by grader (empty for the whole of a multi grader) and flag."""
    examples: dict[tuple[str, str], str] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)
    losses: dict[str, str] = field(default_factory=dict)
    effects: BaselineEffects = field(default_factory=BaselineEffects)

    def add(self, row: RolloutRow) -> None:
        if row.reward is None:
            cause = row.failure_class or "unknown"
            self.lost[cause] += 1
            self.losses.setdefault(cause, (row.failure_message or "")[:_EXCERPT])
            return
        self.graded += 1
        self.effects.add(row)
        if row.stop_reason == StopReason.TOKEN_LIMIT and not row.completion_tokens:
            self.unanswered += 1
            self.longest_prompt = max(self.longest_prompt, row.prompt_tokens)
        self.rewards[round(row.reward, _DIGITS)] += 1
        for grader, measures in row.trace["graders"].items():
            for name in measures:
                if name.startswith(_ERROR):
                    error = (grader, name.removeprefix(_ERROR))
                    self.errors[error] += 1
                    self.examples.setdefault(error, _example(row, grader))

    def diagnosis(
        self,
        options: NothingToLearnOptions,
        *,
        grader: AnyGrader,
        objective: ObjectiveOptions,
        context_length: int,
    ) -> Diagnosis | None:
        """Returns the most serious diagnosis, `None` if the job can learn."""
        if self.graded < LEAST_GRADED:
            return None
        limit = options.error_share * self.graded
        if self.unanswered >= limit:
            return Diagnosis(
                f"{self.unanswered} of {self.graded} validation rollouts had no token left to "
                f"answer: their prompts {full_context(context_length, self.longest_prompt)}",
                NO_ROOM_CURE,
                param="validation_file",
            )
        if self.errors:
            error, count = self.errors.most_common(1)[0]
            if count >= limit:
                return self._error(error, count, grader)
        reward, alike = self.rewards.most_common(1)[0]
        if (
            alike < options.equal_share * self.graded
            or (objective.call_budget is not None and objective.call_budget_penalty)
            or objective.repeated_call_penalty
            or objective.overlong
            or objective.clamp_limit_stop
        ):
            return None
        return self._equal(reward, alike, enough=options.equal_rewards, highest=grader.highest)

    def _error(self, error: tuple[str, str], count: int, grader: AnyGrader) -> Diagnosis:
        child, flag = error
        name, path = (child, f"{_GRADER}.graders.{child}") if child else (grader.name, _GRADER)
        return Diagnosis(
            f"{count} of {self.graded} validation rewards of the base model carry the error "
            f"'{flag}' of the grader '{name}' ({path}): {self.examples[error]}",
            _CURES.get(flag, _OTHER_CURE),
            param=path,
        )

    def _losses(self) -> str:
        cause, count = self.lost.most_common(1)[0]
        total = self.graded + self.lost.total()
        return (
            f"{self.lost.total()} of {total} validation rollouts of the base model were lost, "
            f"{count} of them with {cause} ({self.losses[cause]})."
        )

    def _equal(
        self, reward: float, alike: int, *, enough: int, highest: float | None
    ) -> Diagnosis | None:
        others = self.graded - alike
        count = f"{alike} of {self.graded}" if others else f"All {self.graded}"
        reason = f"{count} validation rollouts of the base model earned {reward:g}"
        if self.lost:
            reason = f"{self._losses()} {reason.replace('All', 'All other', 1)}"
        if highest is not None and reward >= highest - TIE:
            if others >= FEWEST_DIFFERING:
                return None
            return Diagnosis(
                f"{reason}, the highest score of the grader: no report could show a clear gain",
                "Use harder rows or a stricter grader, or set a penalty in "
                "method.reinforcement.objective that these rollouts differ by",
                param=_GRADER,
            )
        _, share = limits_of_mean([0.0] * alike + [1.0] * others, UNIT_RANGE, tail=0.05)
        certain = not others and self.graded >= enough  # a few successes may be all it takes
        return Diagnosis(
            f"{reason}: at most {share:.1%} of the rollouts can be expected to earn another reward "
            "(with 95% confidence), and groups of equal rewards train nothing",
            "Use rows of which the model gets some right, a grader that gives partial credit, or a "
            "supervised job first",
            param=_GRADER,
            certain=certain,
        )


def _example(row: RolloutRow, grader: str) -> str:
    details = row.trace.get("grader_errors", {}).get(grader)
    turn = last_turn(row)
    written = "" if turn is None else str(turn.get("content") or "")
    shown = written if len(written) <= _EXCERPT else f"{written[:_EXCERPT]}…"
    return (
        f"{details or 'no details'}; for example in row {row.prompt_index + 1}, where the model "
        f"wrote {shown!r}"
    )


class LearningCheck:
    def __init__(
        self, context: RunContext, method: ReinforcementMethod, plan: Plan, *, reporter: Reporter
    ) -> None:
        self._context = context
        self._method = method
        self._plan = plan
        self._reporter = reporter
        self._options = method.nothing_to_learn or NothingToLearnOptions()

    async def after_baseline(self) -> None:
        """Reads the committed validation of the base model. Raises `RunFailed`, or warns once."""
        if self._options.action == "off":
            return
        context, method = self._context, self._method
        evidence = await collect_held_out(context, "valid", step=0, new=LearnabilityCounts)
        effort = method.hyperparameters.reasoning_effort
        objective = resolved_learning(method, context.base_model, effort).objective
        if evidence.graded >= LEAST_GRADED:
            await self._tell_effects(evidence.effects, objective)
        diagnosis = evidence.diagnosis(
            self._options,
            grader=method.grader,
            objective=objective,
            context_length=context.base_model.context_length,
        )
        if diagnosis is None:
            return
        if self._options.action == "fail" and diagnosis.certain:
            raise RunFailed(diagnosis.message, code=NOTHING_TO_LEARN, param=diagnosis.param)
        warning = f"Perhaps nothing can be learned. {diagnosis.reason}. {diagnosis.cure}."
        await self._reporter.message_once(warning, level="warn")

    async def _tell_effects(self, effects: BaselineEffects, resolved: ObjectiveOptions) -> None:
        reporter, method = self._reporter, self._method
        for warning in effects.warnings(method):
            await reporter.message_once(warning, level="warn")
        if method.objective is not None:
            penalty = {"token_penalty": resolved.token_penalty}
            unused = effects.unused_terms(method.objective.model_copy(update=penalty))
            if unused is not None:
                await reporter.message_once(unused, level="info")

    async def before_step(self, step: int) -> None:
        """Raises `RunFailed` if no group of enough steps had rollouts of different reward."""
        used = self._reporter.usage
        if self._options.action != "fail" or used is None or used.trained_tokens:
            return
        groups = self._plan.groups_before(step)
        if groups < self._options.untrained_groups:
            return
        why = await nothing_trained(self._context, self._reporter.report.nothing_trained)
        raise RunFailed(f"The first {groups} groups trained nothing: {why}.", code=NOTHING_TO_LEARN)
