"""Rows of a run that samples no model: what their samples lack for the criteria. Pure.

Without this check, a row without an answer would be scored as an empty one: it fails most criteria
and passes those that ask for a difference or a short text.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final, assert_never

from app.evals.data_sources import (
    MAX_ITEMS,
    MAX_REPEATED_BYTES,
    EvalRow,
    FileContent,
    FileReference,
    ItemReference,
    JsonlSource,
    MessageTemplate,
    SampledSource,
    repeats_too_much,
    sampling_fault,
)
from app.graders.definitions import read_grader
from app.graders.template_faults import (
    SAMPLE_KEYS,
    WHOLE,
    parts_read,
    placeholders,
    template_fault,
)
from app.graders.template_faults import path_fault as sample_path_fault
from app.graders.templates import Placeholder
from app.kit.errors import InvalidRequest, refused_value
from app.kit.faults import NOT_AVAILABLE, refused_wholly
from app.kit.fields import FieldKind, Json, Path, WalkedField, parameter, walk_fields

GIVEN_KEYS: Final = tuple(key for key in (*SAMPLE_KEYS, "model") if key != "environment")
"""Keys of a sample that this service reads or derives; a row may have others of its own."""
_DERIVED: Final = frozenset(key for key in GIVEN_KEYS if key != "model")
"""Keys that a sample with an answer has, sent or derived from the answer."""
_SIMILARITY: Final = 0.8
_MAX_JUDGED: Final = 20
"""Unknown keys of a sample that are compared with the known ones."""
_CURE: Final = "send the answer as 'output_text' or 'choices'"


@dataclass(frozen=True, slots=True)
class CriterionNeeds:
    """The parts of a sample without which a criterion has nothing to score."""

    name: str
    parts: frozenset[str]


@dataclass(frozen=True, slots=True)
class GivenFault:
    """The reason for which a row cannot be graded."""

    path: Path
    """The place in the row."""
    reason: str


def needs_of(criteria: Iterable[dict[str, Any]]) -> Iterator[CriterionNeeds]:
    """Yields the needs of stored criteria, redacted or not; those that cannot be parsed today have
    none, because the run reports them.
    """
    for criterion in criteria:
        try:
            grader = read_grader(criterion)
        except ValueError:  # pydantic raises its two kinds
            continue
        parts = parts_read(grader)
        if parts:
            yield CriterionNeeds(grader.name, parts)


def given_fault(row: EvalRow, needs: Sequence[CriterionNeeds]) -> GivenFault | None:
    """Returns the first fault of a row whose sample came with it."""
    for key, value in (row.model_extra or {}).items():
        if value is not None:
            shown = f"a row has 'item' and 'sample', and nothing reads '{key[:80]}'"
            return GivenFault((key,), shown)
    return _misspelt(row.sample or {}) or _unanswered(row, needs)


def _misspelt(sample: dict[str, Any]) -> GivenFault | None:
    unknown = [key for key in sample if key not in GIVEN_KEYS]
    for key in unknown[:_MAX_JUDGED]:
        near = near_key(key[:80])
        if near is not None:
            reason = f"'{key[:80]}' is no part of a sample: did you mean '{near}'?"
            return GivenFault(("sample", key), reason)
    return None


@lru_cache(maxsize=4_096)
def near_key(key: str) -> str | None:
    """Returns the known key of a sample that an unknown one is probably a misspelling of."""
    near = get_close_matches(key.casefold(), GIVEN_KEYS, n=1, cutoff=_SIMILARITY)
    return near[0] if near else None


def _unanswered(row: EvalRow, needs: Sequence[CriterionNeeds]) -> GivenFault | None:
    """Returns the fault of a row that lacks a part that a criterion reads."""
    sample = {key: value for key, value in (row.sample or {}).items() if value is not None}
    answer_fault = _answer_fault(sample)
    present = sample.keys() | (frozenset() if answer_fault else _DERIVED)
    if "output_tools" in present:
        present |= {"tool_calls"}
    for each in needs:
        lacking = sorted(part for part in each.parts if part not in present)
        if WHOLE in lacking and sample:
            lacking.remove(WHOLE)
        if lacking:
            part = f".{lacking[0][:80]}" if lacking[0] else ""
            why = answer_fault if lacking[0] in (*_DERIVED, WHOLE) else "the sample has no such key"
            reason = f"'{each.name}' reads 'sample{part}', and {why}"
            return GivenFault(("sample",), reason)
    return None


def _answer_fault(sample: dict[str, Any]) -> str | None:
    """Returns why no answer can be read from a sample without nulls; `None` if there is one."""
    if not sample:
        return f"the row has no 'sample': {_CURE}"
    if "output_text" in sample:
        return None
    if "choices" not in sample:
        return f"the sample has no answer: {_CURE}"
    choices = sample["choices"]
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict) or not {"content", "tool_calls", "refusal"} & message.keys():
        return "'choices' has no message with 'content' or 'tool_calls', as chat completions have"
    if not isinstance(message.get("content"), str | None):
        return "the 'content' of the message in 'choices' is not a text"
    return None


def path_fault(
    field: WalkedField, root: str, *, item_schema: dict[str, Any]
) -> InvalidRequest | None:
    """Returns the error for the first path of a template that leads nowhere in every item."""
    for placeholder in placeholders(field.value) if field.kind is FieldKind.TEMPLATE else ():
        fault = _fault(placeholder, item_schema)
        if fault is not None:
            message = f"'{{{{{placeholder.text[:80]}}}}}' {fault}"
            return refused_value(parameter(root, field.path), message)
    return None


def _fault(placeholder: Placeholder, item_schema: dict[str, Any]) -> str | None:
    key = str(placeholder.steps[0]) if placeholder.steps else None
    if key is None:
        return None
    if placeholder.namespace == "sample":
        return sample_path_fault(placeholder, own_keys=True)
    properties = item_schema.get("properties") or {}
    if item_schema.get("additionalProperties") is not False or key in properties:
        return None
    if item_schema.get("patternProperties"):
        return None
    shown = ", ".join(f"'{name[:64]}'" for name in list(properties)[:20])
    return f"is in no item: 'item_schema' has {shown or 'no properties'} and nothing else"


ROOT: Final = "data_source"
_ROWS: Final[Path] = ("source", "content")
_TOOLS: Final[Path] = ("sampling_params", "tools")
_Reading = tuple[Path, Placeholder]
"""A path that a prompt reads, with the field that has it."""


def data_source_faults(
    source: JsonlSource | SampledSource, criteria: Sequence[Json]
) -> Iterator[InvalidRequest]:
    """Yields an error per fault, each with its parameter. `criteria` are those of the eval, in
    which secrets may be redacted.
    """
    walked = _walked(source)
    for field in walked:
        fault = refused_wholly(field, ROOT) or template_fault(field, ROOT)
        if fault is not None:
            yield fault
    yield from _mcp_tools(source)
    fault = sampling_fault(source, ROOT)
    if fault is not None:
        yield fault
    read = [*_read_by_templates(walked), *_read_by_reference(source)]
    yield from _samples_read(read)
    yield from _missing_fields(source, read)
    yield from _too_many_samples(source)
    yield from _ungradable_rows(source, criteria)


def _ungradable_rows(
    source: JsonlSource | SampledSource, criteria: Sequence[Json]
) -> Iterator[InvalidRequest]:
    """Yields the error of each row whose own sample cannot be graded."""
    match source:
        case JsonlSource(source=FileContent(content=content)):
            needs = list(needs_of(criteria))
            for number, row in enumerate(content):
                fault = given_fault(row, needs)
                if fault is not None:
                    yield _invalid((*_ROWS, number, *fault.path), fault.reason)
        case JsonlSource() | SampledSource():
            return
        case _:
            assert_never(source)


def _too_many_samples(source: JsonlSource | SampledSource) -> Iterator[InvalidRequest]:
    """Yields the error of rows that are within the limit while their samples are not."""
    match source.source:
        case FileContent(content=content):
            if len(content) * source.samples > MAX_ITEMS:
                yield _invalid(
                    ("samples_per_item",),
                    f"{len(content)} items with {source.samples} samples each are more than "
                    f"{MAX_ITEMS} output items",
                )
            elif repeats_too_much(_size(source, content), source.samples):
                yield _invalid(
                    ("samples_per_item",),
                    f"each of {source.samples} samples is stored with its item, which makes more "
                    f"than {MAX_REPEATED_BYTES} bytes",
                )
        case FileReference():
            return
        case rows:
            assert_never(rows)


def _size(source: JsonlSource | SampledSource, rows: tuple[EvalRow, ...]) -> int:
    """Returns the bytes of the items of a source that repeats them."""
    return sum(len(json.dumps(row.item)) for row in rows) if source.samples > 1 else 0


def _read_by_templates(walked: list[WalkedField]) -> Iterator[_Reading]:
    for field in walked:
        if field.kind is FieldKind.TEMPLATE:
            yield from ((field.path, each) for each in placeholders(field.value))


def _read_by_reference(source: JsonlSource | SampledSource) -> Iterator[_Reading]:
    """Yields the path of the messages of an item."""
    match source:
        case SampledSource(input_messages=messages):
            pass
        case JsonlSource():
            return
        case _:
            assert_never(source)
    match messages:
        case ItemReference(item_reference=reference):
            for each in placeholders("{{" + reference + "}}"):
                yield ("input_messages", "item_reference"), each
        case MessageTemplate():
            return
        case _:
            assert_never(messages)


def _samples_read(read: list[_Reading]) -> Iterator[InvalidRequest]:
    """Yields the error for each prompt that reads a sample, which does not exist before the model
    answers.
    """
    for path, each in read:
        if each.namespace == "sample":
            yield _invalid(
                path, f"'{{{{{each.text}}}}}' is not there before the model answers; use 'item'"
            )


def _missing_fields(
    source: JsonlSource | SampledSource, read: list[_Reading]
) -> Iterator[InvalidRequest]:
    """Yields an error per field of a prompt that no item of the call has."""
    match source.source:
        case FileContent(content=content):
            items = [{"item": row.item} for row in content]
        case FileReference():
            return
        case rows:
            assert_never(rows)
    for path, each in read:
        if each.namespace == "item" and not any(map(each.leads_somewhere, items)):
            yield _invalid(path, f"'{{{{{each.text}}}}}': no item has it")


def _invalid(path: Path, reason: str) -> InvalidRequest:
    return refused_value(parameter(ROOT, path), reason)


def _walked(source: JsonlSource | SampledSource) -> list[WalkedField]:
    walked = list(walk_fields(type(source), source))
    match source.source:
        case FileContent():
            return [field for field in walked if field.path[:2] != _ROWS]
        case FileReference():
            return walked
        case rows:
            assert_never(rows)


def _mcp_tools(source: JsonlSource | SampledSource) -> Iterator[InvalidRequest]:
    match source:
        case SampledSource(sampling_params=params):
            tools = params.tools or []
        case JsonlSource():
            return
        case _:
            assert_never(source)
    for number, tool in enumerate(tools):
        kind = tool.get("type")
        if isinstance(kind, str) and kind.strip().casefold() == "mcp":
            param = parameter(ROOT, (*_TOOLS, number))
            yield InvalidRequest(
                f"Invalid value for '{param}': only reinforcement jobs call MCP servers; send "
                "tools of type 'function'.",
                param=param,
                code=NOT_AVAILABLE,
            )
