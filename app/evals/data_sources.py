"""The data source of an eval run: its sampling in the words of a chat, and its faults. Pure."""

import json
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Final, Literal, assert_never

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter
from pydantic_core import PydanticCustomError

from app.files.conversations import conversation_faults
from app.files.rows import DatasetError, load_line
from app.graders.definitions import read_grader
from app.graders.grader_model import MAX_MESSAGES, FewMessages, JudgeMessage
from app.graders.template_faults import SAMPLE_KEYS, WHOLE, parts_read, placeholders, template_fault
from app.graders.template_faults import path_fault as sample_path_fault
from app.graders.templates import (
    MissingVariable,
    Placeholder,
    RenderedTooLong,
    TemplateError,
    parse_template,
)
from app.kit.errors import InvalidRequest, refused_value
from app.kit.faults import NOT_AVAILABLE, refused_wholly
from app.kit.fields import FieldKind, Json, Path, WalkedField, parameter, walk_fields
from app.models.chat_parameters import check_parameters
from app.models.models import STUDENT_TEMPERATURE, StudentVersion

MAX_ITEMS: Final = 10_000
"""Output items of one run: one for each sample of each row."""
MAX_SAMPLES_PER_ITEM: Final = 64
MAX_REPEATED_BYTES: Final = 128 * 1024**2
"""Bytes of the items in the output of a run that repeats them: each sample's has its item."""
Text = Annotated[str, Field(min_length=1, max_length=256)]


def _path(reference: str) -> str:
    try:
        parse_template("{{" + reference + "}}")
    except TemplateError as error:
        raise PydanticCustomError("template_error", "{fault}", {"fault": str(error)}) from None
    return reference


class _SourcePart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)


class EvalRow(_SourcePart):
    """One item, with the sample to grade if the run has no model."""

    item: dict[str, Any]
    sample: dict[str, Any] | None = None


class FileContent(_SourcePart):
    type: Literal["file_content"]
    content: Annotated[tuple[EvalRow, ...], Field(min_length=1, max_length=MAX_ITEMS)]

    @property
    def rows(self) -> tuple[EvalRow, ...]:
        return self.content

    @property
    def planned_items(self) -> int:
        return len(self.content)

    @property
    def file_id(self) -> None:
        return None


class FileReference(_SourcePart):
    type: Literal["file_id"]
    id: Text
    rows: ClassVar[tuple[EvalRow, ...]] = ()

    @property
    def planned_items(self) -> int:
        return MAX_ITEMS

    @property
    def file_id(self) -> str:
        return self.id


Rows = Annotated[FileContent | FileReference, Field(discriminator="type")]


class MessageTemplate(_SourcePart):
    type: Literal["template"]
    template: Annotated[
        tuple[JudgeMessage, ...], Field(min_length=1, max_length=MAX_MESSAGES), FewMessages
    ]


class ItemReference(_SourcePart):
    type: Literal["item_reference"]
    item_reference: Annotated[Text, AfterValidator(_path)]
    """Path of a list of messages, e.g. `item.input_trajectory`."""


class SentSampling(_SourcePart):
    max_completion_tokens: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2, strict=True)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1, strict=True)] | None = None
    reasoning_effort: Annotated[str, Field(max_length=32)] | None = None
    response_format: dict[str, Any] | None = None
    text: dict[str, Any] | None = None
    tools: Annotated[list[dict[str, Any]], Field(max_length=128)] | None = None


class JsonlSource(_SourcePart):
    type: Literal["jsonl"]
    source: Rows

    @property
    def sampled_model(self) -> None:
        return None

    @property
    def samples(self) -> int:
        return 1


class _SamplingSource(_SourcePart):
    type: Literal["completions", "responses"]
    input_messages: Annotated[MessageTemplate | ItemReference, Field(discriminator="type")]
    sampling_params: SentSampling = SentSampling()
    samples_per_item: Annotated[int, Field(ge=1, le=MAX_SAMPLES_PER_ITEM, strict=True)] = 1
    """Answers to each item, which judges of groups compare with each other; an extension."""
    instructions: str | None = None
    """System message of items that have none; an extension."""

    @property
    def samples(self) -> int:
        return self.samples_per_item


class SampledSource(_SamplingSource):
    source: Rows
    model: Text

    @property
    def sampled_model(self) -> str:
        return self.model


class AttachedSource(_SamplingSource):
    """A data source whose model is not known yet."""

    source: FileReference

    def with_model(self, model: str) -> SampledSource:
        return SampledSource.model_validate(
            {**self.model_dump(mode="json", exclude_unset=True), "model": model}
        )


DataSource = Annotated[JsonlSource | SampledSource, Field(discriminator="type")]
DATA_SOURCE: Final[TypeAdapter[JsonlSource | SampledSource]] = TypeAdapter(DataSource)


def asked_of_student(data_source: Json, version: StudentVersion) -> Json:
    """Returns the data source that asks a version of a student as a chat with it would."""
    sent = data_source.get("sampling_params") or {}
    chosen = {name: value for name, value in sent.items() if value is not None}
    return {
        "instructions": version.instructions,
        **data_source,
        "model": version.model,
        "sampling_params": {"temperature": STUDENT_TEMPERATURE, **chosen},
    }


def planned_items(source: JsonlSource | SampledSource) -> int:
    return min(MAX_ITEMS, source.source.planned_items * source.samples)


def repeats_too_much(size: int, samples: int) -> bool:
    return samples > 1 and size * samples > MAX_REPEATED_BYTES


class RowFault(ValueError):
    """A row of a file that is not an item; the text names the line, from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"Line {line}: {message}")


def parse_row(line: bytes, number: int) -> EvalRow:
    try:
        content = load_line(line, number)
    except DatasetError as fault:
        raise RowFault(number, fault.message) from None
    item = content.get("item")
    if not isinstance(item, dict):
        raise RowFault(number, "must be an object with an object `item`")
    sample = content.get("sample")
    if sample is not None and not isinstance(sample, dict):
        raise RowFault(number, "`sample` must be an object")
    return EvalRow.model_validate(content)


TEXT: Final = "text"


def settings_of(params: SentSampling, *, seed: int) -> Json:
    form = params.response_format or (params.text or {}).get("format")
    if isinstance(form, dict) and form.get("type") == "json_schema" and "json_schema" not in form:
        form = {
            "type": "json_schema",
            "json_schema": {key: value for key, value in form.items() if key != "type"},
        }
    settings = {
        "seed": seed,
        "temperature": 1.0 if params.temperature is None else params.temperature,
        "top_p": 1.0 if params.top_p is None else params.top_p,
        "max_completion_tokens": params.max_completion_tokens,
        "reasoning_effort": params.reasoning_effort,
        "response_format": form,
        "tools": _tools(params) or None,
    }
    return {key: value for key, value in settings.items() if value is not None}


def requested_format(source: SampledSource) -> str:
    form = settings_of(source.sampling_params, seed=0).get("response_format", {})
    return str(form.get("type", TEXT))


def unavailable_format(
    source: SampledSource, formats: Sequence[str], *, root: str
) -> InvalidRequest:
    sent = "response_format" if source.sampling_params.response_format else "text.format"
    return refused_value(
        f"{root}.sampling_params.{sent}.type",
        f"the engine that serves '{source.model}' gives {', '.join(formats)} alone; leave it out, "
        "and ask for the form in the messages",
    )


def tools_of(source: JsonlSource | SampledSource) -> list[Json]:
    return _tools(source.sampling_params) if isinstance(source, SampledSource) else []


def sampling_fault(source: JsonlSource | SampledSource, root: str) -> InvalidRequest | None:
    if not isinstance(source, SampledSource):
        return None
    params = source.sampling_params
    settings = settings_of(params, seed=params.seed or 0)
    try:
        check_parameters({"model": source.model, "messages": [], **settings})
    except InvalidRequest as fault:
        return _at(fault, params, f"{root}.sampling_params.")
    return None


def _at(fault: InvalidRequest, params: SentSampling, root: str) -> InvalidRequest:
    said = fault.param or ""
    sent = said
    if said.startswith("response_format") and not params.response_format:
        sent = f"text.format{said.removeprefix('response_format').replace('.json_schema', '', 1)}"
    elif any("function" not in tool for tool in params.tools or ()):
        sent = said.replace(".function", "", 1)
    message = fault.message.replace(f"'{said}'", f"'{root}{sent}'")
    return InvalidRequest(message, param=root + sent, code=fault.code)


def _tools(params: SentSampling) -> list[Json]:
    return [_tool(tool) for tool in params.tools or ()]


def _tool(tool: Json) -> Json:
    if "function" in tool:
        return tool
    return {
        "type": "function",
        "function": {key: value for key, value in tool.items() if key != "type"},
    }


GIVEN_KEYS: Final = tuple(key for key in (*SAMPLE_KEYS, "model") if key != "environment")
"""Keys of a sample that this service reads or derives; a row may have others of its own."""
_DERIVED: Final = frozenset(key for key in GIVEN_KEYS if key != "model")
"""Keys that a sample with an answer has, sent or derived from the answer."""
_SIMILARITY: Final = 0.8
_MAX_JUDGED: Final = 20
_CURE: Final = "send the answer as 'output_text' or 'choices'"


CriterionNeeds = tuple[str, frozenset[str]]
"""Name of a criterion, and the parts of a sample without which it has nothing to score."""
GivenFault = tuple[Path, str]
"""The place in a row, and the reason for which the row cannot be graded."""


def needs_of(criteria: Iterable[dict[str, Any]]) -> Iterator[CriterionNeeds]:
    """Leaves out criteria that cannot be read today, because the run reports them."""
    for criterion in criteria:
        try:
            grader = read_grader(criterion)
        except ValueError:  # pydantic raises its two kinds
            continue
        parts = parts_read(grader)
        if parts:
            yield grader.name, parts


def given_fault(row: EvalRow, needs: Sequence[CriterionNeeds]) -> GivenFault | None:
    for key, value in (row.model_extra or {}).items():
        if value is not None:
            shown = f"a row has 'item' and 'sample', and nothing reads '{key[:80]}'"
            return (key,), shown
    return _misspelt(row.sample or {}) or _unanswered(row, needs)


def _misspelt(sample: dict[str, Any]) -> GivenFault | None:
    unknown = [key for key in sample if key not in GIVEN_KEYS]
    for key in unknown[:_MAX_JUDGED]:
        near = near_key(key[:80])
        if near is not None:
            reason = f"'{key[:80]}' is no part of a sample: did you mean '{near}'?"
            return ("sample", key), reason
    return None


@lru_cache(maxsize=4_096)
def near_key(key: str) -> str | None:
    near = get_close_matches(key.casefold(), GIVEN_KEYS, n=1, cutoff=_SIMILARITY)
    return near[0] if near else None


def _unanswered(row: EvalRow, needs: Sequence[CriterionNeeds]) -> GivenFault | None:
    sample = {key: value for key, value in (row.sample or {}).items() if value is not None}
    answer_fault = _answer_fault(sample)
    present = sample.keys() | (frozenset() if answer_fault else _DERIVED)
    if "output_tools" in present:
        present |= {"tool_calls"}
    for name, parts in needs:
        lacking = sorted(part for part in parts if part not in present)
        if WHOLE in lacking and sample:
            lacking.remove(WHOLE)
        if lacking:
            part = f".{lacking[0][:80]}" if lacking[0] else ""
            why = answer_fault if lacking[0] in (*_DERIVED, WHOLE) else "the sample has no such key"
            reason = f"'{name}' reads 'sample{part}', and {why}"
            return ("sample",), reason
    return None


def _answer_fault(sample: dict[str, Any]) -> str | None:
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


def data_source_faults(
    source: JsonlSource | SampledSource, criteria: Sequence[Json]
) -> Iterator[InvalidRequest]:
    """Yields an error per fault. `criteria` are those of the eval, secrets redacted or not."""
    fields, rows = walk_fields(type(source), source), source.source.rows
    walked = [field for field in fields if not rows or field.path[:2] != _ROWS]
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
    yield from _unusable_conversations(source)
    yield from _too_many_samples(source)
    yield from _ungradable_rows(source, criteria)


def _ungradable_rows(
    source: JsonlSource | SampledSource, criteria: Sequence[Json]
) -> Iterator[InvalidRequest]:
    if isinstance(source, JsonlSource):
        needs = list(needs_of(criteria))
        for number, row in enumerate(source.source.rows):
            fault = given_fault(row, needs)
            if fault is not None:
                yield _invalid((*_ROWS, number, *fault[0]), fault[1])


def _too_many_samples(source: JsonlSource | SampledSource) -> Iterator[InvalidRequest]:
    rows, samples = source.source.rows, source.samples
    if len(rows) * samples > MAX_ITEMS:
        yield _invalid(
            ("samples_per_item",),
            f"{len(rows)} items with {samples} samples each are more than {MAX_ITEMS} output items",
        )
    elif samples > 1 and repeats_too_much(sum(len(json.dumps(row.item)) for row in rows), samples):
        yield _invalid(
            ("samples_per_item",),
            f"each of {samples} samples is stored with its item, which makes more than "
            f"{MAX_REPEATED_BYTES} bytes",
        )


def _read_by_templates(walked: list[WalkedField]) -> Iterator[_Reading]:
    for field in walked:
        if field.kind is FieldKind.TEMPLATE:
            yield from ((field.path, each) for each in placeholders(field.value))


def _read_by_reference(source: JsonlSource | SampledSource) -> Iterator[_Reading]:
    match source:
        case SampledSource(input_messages=ItemReference(item_reference=reference)):
            for each in placeholders("{{" + reference + "}}"):
                yield ("input_messages", "item_reference"), each
        case JsonlSource() | SampledSource():
            return
        case _:
            assert_never(source)


class UnusableItem(Exception):
    """No prompt can be built from the item; users read the text."""


def messages_at(path: str, item: Json) -> list[Json]:
    """Returns the conversation at `path` of an item. Raises `UnusableItem` by the chat's rules, and
    what a template raises.
    """
    text = parse_template("{{" + path + "}}").render(sample={}, item=item)
    try:
        messages = json.loads(text)
    except ValueError:
        messages = text
    for fault in conversation_faults(messages, (path,)):
        raise UnusableItem(fault.message)
    conversation: list[Json] = messages
    return conversation


def _unusable_conversations(source: JsonlSource | SampledSource) -> Iterator[InvalidRequest]:
    match source:
        case SampledSource(input_messages=ItemReference(item_reference=reference)):
            for number, row in enumerate(source.source.rows):
                try:
                    messages_at(reference, row.item)
                except UnusableItem as fault:
                    yield _invalid((*_ROWS, number, "item"), str(fault).removesuffix("."))
                except (MissingVariable, RenderedTooLong):
                    continue  # an item without it has the status `error`, as in a file
        case JsonlSource() | SampledSource():
            return
        case _:
            assert_never(source)


def _samples_read(read: list[_Reading]) -> Iterator[InvalidRequest]:
    for path, each in read:
        if each.namespace == "sample":
            yield _invalid(
                path, f"'{{{{{each.text}}}}}' is not there before the model answers; use 'item'"
            )


def _missing_fields(
    source: JsonlSource | SampledSource, read: list[_Reading]
) -> Iterator[InvalidRequest]:
    items = [{"item": row.item} for row in source.source.rows]
    if not items:  # they are in a file
        return
    for path, each in read:
        if each.namespace == "item" and not any(map(each.leads_somewhere, items)):
            yield _invalid(path, f"'{{{{{each.text}}}}}': no item has it")


def _invalid(path: Path, reason: str) -> InvalidRequest:
    return refused_value(parameter(ROOT, path), reason)


def _mcp_tools(source: JsonlSource | SampledSource) -> Iterator[InvalidRequest]:
    tools = (source.sampling_params.tools or ()) if isinstance(source, SampledSource) else ()
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
