"""Says which parts of a job had no effect in the validation of the base model."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel

from app.graders.template_faults import parts_read
from app.jobs.learning import AUTO, ObjectiveOptions
from app.jobs.reinforcement import RUNS_CALLS, ReinforcementMethod
from app.rollouts.rollouts import RolloutRow
from app.rollouts.trajectory import StopReason

_ROOT: Final = "method.reinforcement"
_CALLS: Final = frozenset({"tool_calls", "output_tools"})
"""The parts of a sample that are empty in a rollout without calls."""
_STOPS: Final = ("tool_call_collapse", "parse_errors")
"""Stop rules that count calls."""


@dataclass(slots=True)
class BaselineEffects:
    """What the graded rollouts of a validation have at most."""

    graded: int = 0
    calls: int = 0
    tokens: int = 0
    limit_stops: int = 0
    earned: dict[str, float] = field(default_factory=dict)
    """By component of the grader."""

    def add(self, row: RolloutRow) -> None:
        self.graded += 1
        self.calls = max(self.calls, row.tool_calls)
        self.tokens = max(self.tokens, row.completion_tokens)
        self.limit_stops += row.stop_reason not in (None, StopReason.FINAL_ANSWER)
        for name, score in row.components.items():
            self.earned[name] = max(score, self.earned.get(name, score))

    def warnings(self, method: ReinforcementMethod) -> Iterator[str]:
        idle = list(_counting_calls(method))
        if not self.calls and (idle or method.runs_calls):
            nothing = f", so that nothing shows in {', '.join(idle)}" if idle else ""
            cure = "" if method.runs_calls else f". The job runs calls with {RUNS_CALLS} alone"
            yield f"None of the {self._rollouts} called a tool of the job{nothing}{cure}."
        for name, part in method.grader.parts.items():
            best = self.earned.get(name)
            if best is not None and best <= (part.lowest or 0.0):
                yield (
                    f"The part '{name}' of the grader gave {best:g} at most to the "
                    f"{self._rollouts}: it rewards nothing that the model does yet."
                )

    def unused_terms(self, objective: ObjectiveOptions) -> str | None:
        """Returns the terms of the objective that cost no rollout anything."""
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
    """Yields the parameters of the job that read or count calls."""
    if parts_read(method.grader) & _CALLS:
        yield f"'{_ROOT}.grader'"
    if method.max_episode_steps is not None and not method.runs_calls:
        yield f"'{_ROOT}.max_episode_steps'"
    if method.stop is not None:
        for name in _STOPS:
            rule = getattr(method.stop, name)
            if rule != _default(method.stop, name) and rule.action != "off":
                yield f"'{_ROOT}.stop.{name}'"
    objective = method.objective
    if objective is not None and objective.call_budget is not None:
        yield f"'{_ROOT}.objective.call_budget'"
    if objective is not None and objective.repeated_call_penalty:
        yield f"'{_ROOT}.objective.repeated_call_penalty'"


def _default(options: BaseModel, name: str) -> object:
    """A stored method holds every default, so a field that was sent is one with another value."""
    return type(options).model_fields[name].get_default(call_default_factory=True)
