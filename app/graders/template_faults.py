"""Faults of a grader's templates, found by trying them on a specimen of a sample."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final

from pydantic import BaseModel

from app.graders.grader_model import GraderModel
from app.graders.samples import (
    CALL_KEYS,
    CHAT_CALL_KEYS,
    CHAT_FUNCTION_KEYS,
    CHOICE_KEYS,
    MESSAGE_KEYS,
    TURN_KEYS,
)
from app.graders.templates import DefinitionWork, Placeholder, TemplateError, parse_template
from app.kit.errors import CONSTANT_GRADER, InvalidRequest, NoEffect, refused_value
from app.kit.fields import FieldKind, WalkedField, parameter, walk_fields
from app.rollouts.trajectory import REWARD_KEYS

_ONE_BRACE: Final = re.compile(r"(?<!\{)\{\s*((?:sample|item)\s*[.\[][^{}\n]{0,200})\}(?!\})")
ENTRY_KEYS: Final = {"tool_calls": CALL_KEYS, "turns": TURN_KEYS}
_JSON: Final = "output_json"
ENVIRONMENT: Final = "environment"
_LIKELY: Final = 0.8
_SIMILAR: Final = 0.6
_ANY: Final = object()
_CALL: Final = {
    **dict.fromkeys(CHAT_CALL_KEYS, ""),
    "function": dict.fromkeys(CHAT_FUNCTION_KEYS, ""),
}
_MESSAGE: Final = {**dict.fromkeys(MESSAGE_KEYS, ""), "tool_calls": [_CALL]}
SPECIMEN: Final[dict[str, Any]] = {
    "choices": [{**dict.fromkeys(CHOICE_KEYS, ""), "message": _MESSAGE}],
    "output_reasoning_summary": "",
    "output_text": "",
    "output_tools": [_CALL],
    "stop_reason": "",
    "tool_calls": [{**dict.fromkeys(CALL_KEYS, ""), "arguments_json": _ANY}],
    "turns": [{**dict.fromkeys(TURN_KEYS, ""), "tool_calls": 0}],
    _JSON: _ANY,
    ENVIRONMENT: dict.fromkeys(REWARD_KEYS, _ANY),
}
SAMPLE_KEYS: Final = tuple(SPECIMEN)


def template_fault(field: WalkedField, root: str) -> InvalidRequest | None:
    found = _ONE_BRACE.search(field.value) if field.kind is FieldKind.TEMPLATE else None
    if found is None:
        return None
    right = f"{{{{{found[1].strip()}}}}}"
    message = f"'{found[0]}' has single braces and is plain text: write '{right}'"
    return refused_value(parameter(root, field.path), message)


def sample_fault(
    field: WalkedField, root: str, *, json_output: bool, environment: bool, work: DefinitionWork
) -> InvalidRequest | None:
    if field.kind is not FieldKind.TEMPLATE:
        return None
    try:
        work.count(field.value)
    except TemplateError:
        return None
    for placeholder in placeholders(field.value):
        key = placeholder.steps[0] if placeholder.namespace == "sample" and placeholder.steps else 0
        if key == _JSON and not json_output:
            fault: str | None = (
                'is there only with \'response_format\': send {"type": "json_object"} or a '
                "'json_schema', or use 'sample.output_text'"
            )
        elif key == ENVIRONMENT and not environment:
            fault = "is there only in a job whose 'environment' has the type 'http'"
        else:
            fault = path_fault(placeholder)
        if fault is not None:
            message = f"'{{{{{placeholder.text[:80]}}}}}' {fault}"
            return refused_value(parameter(root, field.path), message)
    return None


def unplayable_path(grader: BaseModel, root: str) -> InvalidRequest | None:
    work = DefinitionWork()
    for field in walk_fields(type(grader), grader):
        fault = sample_fault(field, root, json_output=True, environment=True, work=work)
        if fault is not None:
            return fault
    return None


def placeholders(text: str) -> list[Placeholder]:
    try:
        template = parse_template(text)
    except TemplateError:
        return []
    return [part for part in template.parts if isinstance(part, Placeholder)]


def path_fault(placeholder: Placeholder, *, own_keys: bool = False) -> str | None:
    """Tries a path on the specimen. With `own_keys` only a likely misspelling is a fault."""
    value: Any = SPECIMEN if placeholder.namespace == "sample" else _ANY
    steps = placeholder.steps
    for depth, step in enumerate(steps):
        is_own = own_keys and depth > 1 and not isinstance(value, dict)
        if value is _ANY or is_own:
            return None
        fault = _step_fault(value, steps[:depth], step, own_keys=own_keys)
        if fault is not None or (isinstance(value, dict) and step not in value):
            return fault
        value = value[0 if isinstance(value, list) else step]
    return None


def _step_fault(
    value: Any, before: tuple[str | int, ...], step: str | int, *, own_keys: bool
) -> str | None:
    here = "sample" + "".join(
        f"[{each}]" if isinstance(each, int) else f".{each}" for each in before
    )
    if isinstance(value, dict):
        return None if step in value else _unknown_step(value, before, str(step), own_keys=own_keys)
    if not isinstance(value, list):
        what = "a number" if isinstance(value, int) else "a text"
        return f"leads nowhere: '{here}' is {what}{_instead(before)}"
    if not isinstance(step, int):
        return f"leads nowhere: '{here}' is a list: write '{here}[0]'"
    if here == "sample.choices" and step and not own_keys:
        return f"leads nowhere: a sample has one choice: write '{here}[0]'"
    return None


def _instead(steps: tuple[str | int, ...]) -> str:
    key = str(steps[-1])
    if key == "arguments" and steps[0] == "tool_calls":
        return ": use 'arguments_json'"
    is_elsewhere = len(steps) > 1 and isinstance(SPECIMEN.get(key), list)
    return f": use 'sample.{key}'" if is_elsewhere else " and has no parts"


def _unknown_step(
    known: dict[str, Any], before: tuple[str | int, ...], step: str, *, own_keys: bool
) -> str | None:
    entry = max((at for at, each in enumerate(before) if isinstance(each, int)), default=-1)
    prefix = "".join(f"{each}." for each in before[entry + 1 :])
    owner = f"an entry of 'sample.{before[0]}'" if entry > 0 else "a sample"
    if entry < 0:
        prefix = f"sample.{prefix}"
    below = [key for key, value in known.items() if isinstance(value, dict) and step in value]
    near = get_close_matches(step[:80], known, n=1, cutoff=_LIKELY if own_keys else _SIMILAR)
    if below and not own_keys:
        return f"names no part of {owner}: write '{below[0]}.{step}' in place of '{step}'"
    if near:
        return f"names no part of {owner}: did you mean '{prefix}{near[0]}'?"
    return None if own_keys else f"names no part of {owner}: it has {', '.join(known)}"


WHOLE: Final = ""


def constant_scores(grader: GraderModel, param: str, cost: str) -> Iterator[NoEffect]:
    if not any(map(_may_read_sample, _single_graders(grader))):
        message = f"'{param}' reads nothing of a sample, so {cost}; use a template such as "
        yield NoEffect(CONSTANT_GRADER, param, message + "'{{sample.output_text}}'")


REWARDS_ALIKE: Final = "all rollouts of a row earn the same and the job learns nothing"


def parts_read(grader: GraderModel) -> frozenset[str]:
    """Returns the parts of a sample without which the grader has nothing to score."""
    return frozenset(key for each in _single_graders(grader) for key in _own_parts(each))


def _may_read_sample(grader: GraderModel) -> bool:
    templates = list(_templates(grader))
    read = any(_parts(text) for _, text in templates)
    return grader.reads_beside_templates or not templates or read


def _single_graders(grader: GraderModel) -> Iterator[GraderModel]:
    if not grader.parts:
        yield grader
    for part in grader.parts.values():
        yield from _single_graders(part)


def _own_parts(grader: GraderModel) -> Iterator[str]:
    by_nature = grader.parts_read_by_nature
    yield from by_nature
    for name, text in _templates(grader):
        if not (by_nature and name == "input"):
            yield from _parts(text)


def _templates(grader: GraderModel) -> Iterator[tuple[str, str]]:
    for field in walk_fields(type(grader), grader):
        if field.kind is FieldKind.TEMPLATE:
            yield str(field.path[0]), field.value


def _parts(text: str) -> frozenset[str]:
    return frozenset(
        str(each.steps[0]) if each.steps else WHOLE
        for each in placeholders(text)
        if each.namespace == "sample"
    )
