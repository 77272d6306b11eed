"""Sampling of an eval run in the words of Chat Completions, and its check by the rules of a chat.
Pure.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, assert_never

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter
from pydantic_core import PydanticCustomError

from app.files.rows import DatasetError, load_line
from app.graders.grader_model import MAX_MESSAGES, FewMessages, JudgeMessage
from app.graders.templates import TemplateError, parse_template
from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import Json
from app.models.chat_parameters import check_parameters

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
    def planned_items(self) -> int:
        return len(self.content)

    @property
    def file_id(self) -> None:
        return None


class FileReference(_SourcePart):
    type: Literal["file_id"]
    id: Text

    @property
    def planned_items(self) -> int:
        """Largest possible number of items of the file, which has not been read yet."""
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
    """The Responses API's field for a format."""
    tools: Annotated[list[dict[str, Any]], Field(max_length=128)] | None = None


class JsonlSource(_SourcePart):
    type: Literal["jsonl"]
    source: Rows

    @property
    def sampled_model(self) -> None:
        return None

    @property
    def samples(self) -> int:
        """The samples of an item: the one that came with it."""
        return 1


class _SamplingSource(_SourcePart):
    type: Literal["completions", "responses"]
    input_messages: Annotated[MessageTemplate | ItemReference, Field(discriminator="type")]
    sampling_params: SentSampling = SentSampling()
    samples_per_item: Annotated[int, Field(ge=1, le=MAX_SAMPLES_PER_ITEM, strict=True)] = 1
    """Answers to each item, which judges of groups compare with each other; an extension."""

    @property
    def samples(self) -> int:
        """The samples of an item, in whose order they are listed."""
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


def planned_items(source: JsonlSource | SampledSource) -> int:
    """Returns the most output items that a run makes. Nothing has read a file yet, so it may hold
    as many rows as a run can have.
    """
    return min(MAX_ITEMS, source.source.planned_items * source.samples)


def repeats_too_much(size: int, samples: int) -> bool:
    """Returns true if items of `size` bytes are too large to be stored with every sample."""
    return samples > 1 and size * samples > MAX_REPEATED_BYTES


class RowFault(ValueError):
    """A row of a file that is not an item; the text names the line, from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"Line {line}: {message}")


def parse_row(line: bytes, number: int) -> EvalRow:
    """Returns one line of an eval file: `{"item": {…}, "sample": {…}?}`. Raises `RowFault`. Other
    keys are kept, so that a run whose samples are in the rows can report them.
    """
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
"""Type of the `response_format` that every engine gives."""


def settings_of(params: SentSampling, *, seed: int) -> Json:
    """Returns Chat Completions settings; translates names of the Responses API."""
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
    """Returns the type of the requested `response_format`, which was checked."""
    form = settings_of(source.sampling_params, seed=0).get("response_format", {})
    return str(form.get("type", TEXT))


def unavailable_format(
    source: SampledSource, formats: Sequence[str], *, root: str
) -> InvalidRequest:
    """Returns the error of a format that the engine of the model cannot give."""
    sent = "response_format" if source.sampling_params.response_format else "text.format"
    return refused_value(
        f"{root}.sampling_params.{sent}.type",
        f"the engine that serves '{source.model}' gives {', '.join(formats)} alone; leave it out, "
        "and ask for the form in the messages",
    )


def tools_of(source: JsonlSource | SampledSource) -> list[Json]:
    """Returns the tools that the model is offered, which a judge of its answers reads too."""
    match source:
        case SampledSource():
            return _tools(source.sampling_params)
        case JsonlSource():
            return []
        case _:
            assert_never(source)


def sampling_fault(source: JsonlSource | SampledSource, root: str) -> InvalidRequest | None:
    """Returns the error of the first setting that no chat takes, at its place in the data source
    `root`.
    """
    match source:
        case JsonlSource():
            return None
        case SampledSource(sampling_params=params):
            settings = settings_of(params, seed=params.seed or 0)
        case _:
            assert_never(source)
    try:
        check_parameters({"model": source.model, "messages": [], **settings})
    except InvalidRequest as fault:
        return _at(fault, params, f"{root}.sampling_params.")
    return None


def _at(fault: InvalidRequest, params: SentSampling, root: str) -> InvalidRequest:
    """Returns the error of a setting at its place in the call, also in the Responses API's form."""
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
    """Returns a function in the nested form of Chat Completions; the Responses API's is flat."""
    if "function" in tool:
        return tool
    return {
        "type": "function",
        "function": {key: value for key, value in tool.items() if key != "type"},
    }
