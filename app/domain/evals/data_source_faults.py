"""Faults of a run's data source: unknown keys, MCP tools, bounds, and credentials. Pure.

A data source is stored and shown unchanged, and no part of it is sent to a customer's server: a
credential in it is useless, so it is refused and never sealed. The rows of `file_content` are the
customer's data and are not walked.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, assert_never

from app.domain.documents.json_object import Json
from app.domain.documents.pointers import Path, parameter
from app.domain.documents.walk import FieldKind, WalkedField, walk_fields
from app.domain.errors import InvalidRequest, refused_value
from app.domain.evals.data_sources import (
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
)
from app.domain.evals.given_samples import given_fault, needs_of
from app.domain.evals.sampling import sampling_fault
from app.domain.faults.unknown_keys import NOT_AVAILABLE, refused_wholly
from app.domain.graders.templates.template_faults import placeholders, template_fault
from app.domain.graders.templates.templates import Placeholder
from app.domain.secrets.bounds import bound_faults
from app.domain.secrets.redaction import found_in

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
        if field.path == _TOOLS:
            yield from _mcp_tools(field.value)
    yield from bound_faults([(ROOT, field) for field in walked])
    for field in walked:
        for path, _, _ in found_in(field):
            yield _credential(path)
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


def _mcp_tools(tools: list[dict[str, Any]]) -> Iterator[InvalidRequest]:
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


def _credential(path: Path) -> InvalidRequest:
    return _invalid(
        path,
        "it looks like a credential, or contains one. Credentials are not accepted in a run's data "
        "source; send them in the headers of the eval's graders",
    )
