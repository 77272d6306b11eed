"""Finds options whose values nothing of the job can reach: targets beyond every score, penalties on
calls that are not run, steps too small to change a weight.

Works on methods alone. Must not know the base model, the rows or the rest of the call.
"""

from collections.abc import Iterator
from typing import Any, Final, assert_never

from app.domain.documents.walk import value_of
from app.domain.faults.no_effect import NoEffect, unused_option
from app.domain.graders.grader_model import GraderModel
from app.domain.methods.objective import AUTO, ObjectiveOptions
from app.domain.methods.reinforcement import RUNS_CALLS, ReinforcementMethod
from app.domain.methods.stop import StopOptions
from app.domain.methods.supervised import DpoMethod, SupervisedMethod

LEAST_RATE: Final = 1e-4
"""Smallest `learning_rate_multiplier` without a warning: a thousand steps of it move a weight by a
tenth of one step at the base model's own rate.
"""


def out_of_reach(method: ReinforcementMethod, root: str) -> Iterator[NoEffect]:
    """Yields the options of a reinforcement job that nothing of it can reach."""
    objective = method.objective
    if objective is not None:
        calls = method.runs_calls
        yield from _penalties(objective, f"{root}.objective", runs_calls=calls)
    if method.stop is not None:
        yield from _stops(method.stop, method.grader, f"{root}.stop")
    yield from tiny_rate(method, root)


def offline_out_of_reach(method: SupervisedMethod | DpoMethod, root: str) -> Iterator[NoEffect]:
    """Yields such options of a job that learns texts."""
    target = None if method.stop is None else method.stop.target
    if (
        target is not None
        and target.action != "off"
        and target.value < 0
        and _loss_is_positive(method)
    ):
        yield unused_option(
            f"{root}.stop.target.value",
            f"a validation loss is at least 0, so that none reaches {target.value:g}",
        )
    yield from tiny_rate(method, root)


def _loss_is_positive(method: SupervisedMethod | DpoMethod) -> bool:
    match method:
        case SupervisedMethod():
            return True
        case DpoMethod():
            return False  # some losses of preferences are not
        case _:
            assert_never(method)


def tiny_rate(method: Any, root: str) -> Iterator[NoEffect]:
    """Yields the learning rate that changes next to nothing; `method` is a method or its JSON."""
    rate = value_of(value_of(method, "hyperparameters"), "learning_rate_multiplier")
    if isinstance(rate, int | float) and not isinstance(rate, bool) and 0 < rate < LEAST_RATE:
        param = f"{root}.hyperparameters.learning_rate_multiplier"
        yield NoEffect(
            "tiny_learning_rate",
            param,
            f"'{param}' of {rate:g} makes steps so small that the job changes next to nothing, and "
            "the model stays what it is: 1 is the base model's own rate, and values from 0.1 to 10 "
            "are usual",
        )


def _penalties(objective: ObjectiveOptions, root: str, *, runs_calls: bool) -> Iterator[NoEffect]:
    sent = objective.model_fields_set
    budget = objective.call_budget is not None
    given = {
        "call_budget": budget,
        "call_budget_penalty": "call_budget_penalty" in sent and objective.call_budget_penalty > 0,
        "repeated_call_penalty": objective.repeated_call_penalty > 0,
    }
    for name in (name for name, is_given in given.items() if is_given and not runs_calls):
        param = f"{root}.{name}"
        yield NoEffect(
            "no_tools",
            param,
            f"'{param}' changes nothing: it counts calls that are run, and the job runs none "
            f"without {RUNS_CALLS}",
        )
    if runs_calls and given["call_budget_penalty"] and not budget:
        yield unused_option(
            f"{root}.call_budget_penalty", f"it needs a budget, '{root}.call_budget'"
        )
    if runs_calls and budget and objective.call_budget_penalty == 0:
        yield unused_option(f"{root}.call_budget", f"'{root}.call_budget_penalty' is 0")
    if objective.token_budget != AUTO and objective.token_penalty == 0:
        yield unused_option(f"{root}.token_budget", f"'{root}.token_penalty' is 0")


def _stops(stop: StopOptions, grader: GraderModel, root: str) -> Iterator[NoEffect]:
    low, high = grader.lowest, grader.highest
    target = stop.target
    if target is not None and target.action != "off":
        param = f"{root}.target.value"
        if high is not None and target.value > high:
            yield unused_option(
                param,
                f"the highest score of the grader is {high:g}, so that no validation reaches "
                f"{target.value:g}",
            )
        if low is not None and target.value <= low:
            yield NoEffect(
                "target_always_reached",
                param,
                f"'{param}' of {target.value:g} is reached by every validation, because the lowest "
                f"score of the grader is {low:g}: the rule acts at the first one after a step",
            )
    limited = low is not None and high is not None and stop.gap.threshold > high - low
    if limited and stop.gap.action != "off" and "threshold" in stop.gap.model_fields_set:
        yield unused_option(
            f"{root}.gap.threshold",
            f"the scores of the grader are from {low:g} to {high:g}, so that training and "
            "validation never differ by that much",
        )
