"""Options and graders of a reinforcement job that cannot change anything: told in warnings.

Works on a method, and where rows decide also on its JSON, valid or not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from app.domain.documents.pointers import parameter
from app.domain.documents.walk import Kind, walk_fields
from app.domain.graders.formula import parse_formula
from app.domain.graders.kinds.multi import MultiGrader
from app.domain.graders.template_faults import placeholders
from app.domain.methods.reinforcement import ReinforcementMethod

_CALLS: Final = "output_tools"
_NEED_CALLS: Final = (
    ("objective", "call_budget"),
    ("objective", "call_budget_penalty"),
    ("objective", "repeated_call_penalty"),
    ("stop", "tool_call_collapse"),
    ("stop", "parse_errors"),
)
"""Options that count the calls of rollouts."""


@dataclass(frozen=True, slots=True)
class NoEffect:
    """A part of a call that changes nothing."""

    code: str
    param: str
    message: str


def without_effect(method: Any, root: str) -> Iterator[NoEffect]:
    """Yields what has no effect whatever the rows are; nothing for a method that is only JSON."""
    if not isinstance(method, ReinforcementMethod):
        return
    if not _reads_sample(method.grader):
        param = f"{root}.grader"
        yield NoEffect(
            "constant_grader",
            param,
            f"'{param}' reads nothing of a sample, so all rollouts of a row earn the same and the "
            "job learns nothing; use a template such as '{{sample.output_text}}'",
        )
    for name in _unused_children(method.grader):
        param = f"{root}.grader.graders.{name}"
        yield NoEffect(
            "unused_grader",
            param,
            f"'{param}' changes nothing: 'calculate_output' does not use it",
        )
    if not method.tools and method.max_episode_steps is not None:
        param = f"{root}.max_episode_steps"
        yield NoEffect(
            "no_tools",
            param,
            f"'{param}' changes nothing: without '{root}.tools' a rollout is one turn",
        )


def without_calls(method: Any, root: str) -> Iterator[NoEffect]:
    """Yields what has no effect if neither the job nor a row offers a tool."""
    for field in walk_fields(ReinforcementMethod, method):
        read = placeholders(field.value) if field.kind is Kind.TEMPLATE else ()
        if any(each.namespace == "sample" and each.steps[:1] == (_CALLS,) for each in read):
            param = parameter(root, field.path)
            yield NoEffect(
                "no_tools",
                param,
                f"'{param}' reads 'sample.{_CALLS}', and neither the job nor a row offers a tool, "
                "so it is always empty",
            )
    for path in _NEED_CALLS:
        if _sent(method, path):
            param = parameter(root, path)
            yield NoEffect(
                "no_tools",
                param,
                f"'{param}' changes nothing: neither the job nor a row offers a tool",
            )


def _reads_sample(grader: Any) -> bool:
    if isinstance(grader, MultiGrader):
        used = parse_formula(grader.calculate_output).names
        return any(_reads_sample(grader.graders[name]) for name in used)
    if not hasattr(grader, "input"):  # it gets the whole sample
        return True
    templates = [
        field.value for field in walk_fields(type(grader), grader) if field.kind is Kind.TEMPLATE
    ]
    return not templates or any(
        each.namespace == "sample" for text in templates for each in placeholders(text)
    )


def _unused_children(grader: Any) -> list[str]:
    if not isinstance(grader, MultiGrader):
        return []
    used = parse_formula(grader.calculate_output).names
    return [name for name in grader.graders if name not in used]


def _sent(method: Any, path: tuple[str, ...]) -> bool:
    """Says if an option has a value of the customer's other than null, 0 and `off`."""
    value = method
    for name in path:
        if isinstance(value, BaseModel):
            value = getattr(value, name) if name in value.model_fields_set else None
        else:
            value = value.get(name) if isinstance(value, Mapping) else None
    action = value.get("action") if isinstance(value, Mapping) else getattr(value, "action", None)
    return value is not None and value is not False and value != 0 and action != "off"
