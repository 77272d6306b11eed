"""Data sources of eval runs: the origin of items, and their conversion to prompts. Pure.

Owns the hosted `data_source` of a run: `jsonl` grades samples in the rows; `completions` and
`responses` sample a model first.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter
from pydantic_core import PydanticCustomError

from app.domain.data.chat_rows import DatasetError, load_line
from app.domain.graders.judge_prompts import MAX_MESSAGES, FewMessages, JudgeMessage
from app.domain.graders.templates.templates import TemplateError, parse_template

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
