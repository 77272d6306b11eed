"""Finds options whose values nothing of the job can reach: targets beyond every score, penalties on
calls that are not run, steps too small to change a weight.

Works on methods alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, assert_never

from pydantic import BaseModel

from app.graders.definitions import AnyGrader
from app.graders.effects import constant_rewards, constant_score, unread_thresholds
from app.graders.grader_model import GraderModel
from app.graders.template_faults import placeholders
from app.graders.templates import Placeholder
from app.jobs.learning import AUTO, ObjectiveOptions
from app.jobs.reinforcement import RUNS_CALLS, ReinforcementMethod
from app.jobs.stop_options import StopOptions
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.kit.fields import Path, parameter
from app.kit.issues import NoEffect, unused_option
from app.kit.walk import FieldKind, WalkedField, value_of, walk_fields
from app.tools.environments import is_graded_by
from app.tools.tools import LABEL

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


_RUN: Final = "tool_calls"
"""Path in `sample` of the calls of all turns; a job may run none of them."""
_WRITTEN: Final = "output_tools"
"""Path in `sample` of the calls of the last turn, as the model wrote them."""
_SOURCES: Final[Mapping[str | None, str]] = MappingProxyType(
    {"rollout": _RUN, "last_turn": _WRITTEN}
)
"""The path in `sample` from which a `tool_call` grader reads calls, by its `source`."""
_NEED_CALLS: Final = (
    ("stop", "tool_call_collapse"),
    ("stop", "parse_errors"),
)
"""Options that count the calls that rollouts write."""
_SampleTemplate = tuple[WalkedField, Sequence[Placeholder]]
"""A template, and its placeholders of `sample`."""


def without_effect(
    method: ReinforcementMethod, root: str, walked: Sequence[WalkedField]
) -> Iterator[NoEffect]:
    """Yields parts that have no effect, whatever the rows are. `walked` are the method's fields."""
    templates = list(_templates(walked))
    constant = list(constant_rewards(method.grader, f"{root}.grader"))
    yield from constant
    why = None if constant else constant_score(method.grader)
    if why is not None:
        param = f"{root}.grader"
        yield NoEffect(
            "constant_grader",
            param,
            f"'{param}' scores all rollouts of a row the same, so the job learns nothing: {why}",
        )
    for name in method.grader.unused_parts:
        param = f"{root}.grader.graders.{name}"
        yield NoEffect(
            "unused_grader",
            param,
            f"'{param}' changes nothing: 'calculate_output' does not use it",
        )
    yield from _schemas_of_tools(method, root)
    yield from _options_of_no_grader(method, root)
    yield from _thresholds_of_parts(method, root)
    yield from out_of_reach(method, root)
    yield from _judges_apart(method, root)
    if not method.runs_calls:
        yield from _unrun_calls(_readers(templates, _RUN), root)
    if not method.runs_calls and method.max_episode_steps is not None:
        param = f"{root}.max_episode_steps"
        yield NoEffect(
            "no_tools",
            param,
            f"'{param}' changes nothing: without {RUNS_CALLS} a rollout is one turn",
        )


def _schemas_of_tools(method: ReinforcementMethod, root: str) -> Iterator[NoEffect]:
    """Yields the schemas of the job's own tools: the model sees those of the rows."""
    for position, tool in enumerate(method.tools):
        sent = tool.model_extra or {}
        if "id" in sent or LABEL in sent:
            continue
        for key in ("description", "parameters"):
            if sent.get(key) is not None:
                param = f"{root}.tools[{position}].{key}"
                yield NoEffect(
                    "unused_option",
                    param,
                    f"'{param}' changes nothing: the model is offered the tools of its row, "
                    f"'tools[].function.{key}' in the training file",
                )


def _options_of_no_grader(method: ReinforcementMethod, root: str) -> Iterator[NoEffect]:
    """Yields the options of an environment's grader if the job has another grader."""
    environment = method.environment
    if environment is None or is_graded_by(environment, method.grader):
        return
    for name, field in type(environment).model_fields.items():
        if name in environment.grader_options and getattr(environment, name) != field.default:
            param = f"{root}.environment.{name}"
            yield NoEffect(
                "unused_option",
                param,
                f"'{param}' changes nothing: it is about the environment's own grader, and the job "
                f"has another one in '{root}.grader'",
            )


def _thresholds_of_parts(method: ReinforcementMethod, root: str) -> Iterator[NoEffect]:
    """Yields the passing scores of a formula's parts: a reward passes or fails as a whole."""
    environment = method.environment
    if environment is not None and is_graded_by(environment, method.grader):
        return
    for name in unread_thresholds(method.grader):
        param = f"{root}.grader.graders.{name}.pass_threshold"
        yield NoEffect(
            "unused_option",
            param,
            f"'{param}' changes nothing: the reward of the formula passes or fails as a whole, by "
            f"'{root}.grader.pass_threshold'",
        )


def _judges_apart(method: ReinforcementMethod, root: str) -> Iterator[NoEffect]:
    """Yields a warning about group judges: they compare the rollouts of a group, but a validation
    with one rollout per row has groups of one.
    """
    alone = method.hyperparameters.eval_samples in ("auto", 1)
    for path in group_judges(method.grader, ("grader",)):
        param = parameter(root, path)
        if alone:
            yield NoEffect(
                "judge_of_one",
                param,
                f"'{param}' compares the rollouts of a row, and a validation has one of each: its "
                "scores are those of single rollouts. Set "
                f"'{root}.hyperparameters.eval_samples' to 2 or more",
            )
        yield NoEffect(
            "judged_apart",
            param,
            f"'{param}' judges the rollouts of base and tuned model in groups of their own, whose "
            "scores are not comparable: validations and the report can miss a gain. Measure it by "
            "an eval with a grader of single answers",
        )


def paths_of_judges(grader: AnyGrader, root: str) -> list[str]:
    """Returns the paths of the group judges in a method at `root`."""
    return [parameter(root, path) for path in group_judges(grader, ("grader",))]


def group_judges(grader: AnyGrader, path: Path) -> Iterator[Path]:
    """Yields the paths of the reward's graders that score the rollouts of a group against each
    other.
    """
    if grader.compares_rollouts:
        yield path
    for name, part in grader.parts.items():
        if part.compares_rollouts:
            yield (*path, "graders", name)


def _unrun_calls(readers: Iterable[Path], root: str) -> Iterator[NoEffect]:
    """Yields parts that read the calls of rollouts, in a job that runs no tool."""
    for path in readers:
        param = parameter(root, path)
        yield NoEffect(
            "no_tools",
            param,
            f"'{param}' reads 'sample.{_RUN}', but the job runs no call: that takes {RUNS_CALLS}. "
            "The list has the calls that the model wrote for its row's own tools, without outputs, "
            "and is empty for a row without tools",
        )


def without_calls(method: Any, root: str) -> Iterator[NoEffect]:
    """Yields parts that have no effect if neither the job nor a row offers a tool."""
    for path in _readers(_templates(walk_fields(ReinforcementMethod, method)), _WRITTEN):
        param = parameter(root, path)
        yield NoEffect(
            "no_tools",
            param,
            f"'{param}' reads 'sample.{_WRITTEN}', and neither the job nor a row offers a tool, so "
            "it is always empty",
        )
    for path in _NEED_CALLS:
        if _sent(method, path):
            param = parameter(root, path)
            yield NoEffect(
                "no_tools",
                param,
                f"'{param}' changes nothing: neither the job nor a row offers a tool",
            )


def _templates(walked: Iterable[WalkedField]) -> Iterator[_SampleTemplate]:
    for field in walked:
        if field.kind is FieldKind.TEMPLATE:
            found = placeholders(field.value)
            yield field, [each for each in found if each.namespace == "sample"]


def _readers(templates: Iterable[_SampleTemplate], part: str) -> Iterator[Path]:
    """Yields the parameters of templates and `tool_call` graders that read a part of `sample`."""
    for field, read in templates:
        if any(each.steps[:1] == (part,) for each in read):
            yield field.path
        calls = field.path[-1] == "reference" and _text(field.owner, "type") == "tool_call"
        if calls and _SOURCES.get(_text(field.owner, "source")) == part:
            yield (*field.path[:-1], "source")


def _text(holder: Any, key: str) -> str | None:
    value = value_of(holder, key)
    return value if isinstance(value, str) else None


def _sent(method: Any, path: tuple[str, ...]) -> bool:
    """Returns whether the customer set an option to a value other than null, 0 and `off`."""
    value = method
    for name in path:
        if isinstance(value, BaseModel):
            value = getattr(value, name) if name in value.model_fields_set else None
        else:
            value = value.get(name) if isinstance(value, Mapping) else None
    off = value_of(value, "action") == "off"
    return value is not None and value is not False and value != 0 and not off
