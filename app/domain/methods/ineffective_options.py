"""Finds options and graders of a reinforcement job that cannot change anything, for warnings.

Works on a method; checks that depend on rows also work on its JSON, valid or not.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from pydantic import BaseModel

from app.domain.documents.pointers import Path, parameter
from app.domain.documents.walk import FieldKind, WalkedField, value_of, walk_fields
from app.domain.environments.environments import is_graded_by
from app.domain.faults.no_effect import NoEffect
from app.domain.graders.effects.constant_scores import constant_score, unread_thresholds
from app.domain.graders.effects.sample_reads import constant_rewards
from app.domain.graders.graders import AnyGrader
from app.domain.graders.templates.template_faults import placeholders
from app.domain.graders.templates.templates import Placeholder
from app.domain.methods.effects.out_of_reach import out_of_reach
from app.domain.methods.reinforcement import RUNS_CALLS, ReinforcementMethod
from app.domain.tools.tools import LABEL

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
