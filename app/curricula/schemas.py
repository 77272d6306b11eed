"""Curricula on the wire (an extension): sources, preview, generated scenarios, tests."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from app.curricula.curricula import (
    CURRICULUM_SPLITS,
    MADE_FROM,
    MAX_ROWS,
    MOST_SOURCES,
    Columns,
    CurriculumOptions,
    CurriculumSplit,
    Source,
    SplitInput,
    SplitOptions,
    TableFormat,
)
from app.curricula.scenarios import ScenarioSet
from app.curricula.split_files import CollectedRows, CurriculumFinding, TableReading
from app.jobs.schemas import Fault, Text
from app.jobs.supervised import MethodType
from app.kit.errors import refused_value
from app.kit.faults import UnreadKey
from app.kit.fields import DescribedModel, Json
from app.kit.schemas import ClosedBody, Metadata, WireModel
from app.kit.texts import TOOL_NAME
from app.tools.registry import RegisteredVersion
from app.tools.schemas import RegisteredObject, own_keys

_FIRST_COLUMNS = 100


class PreviewCurriculum(CurriculumOptions, ClosedBody):
    """A curriculum that is not made."""

    sources: Annotated[list[Source], Field(min_length=1, max_length=MOST_SOURCES)]
    """The sources of both files."""


class TagRows(DescribedModel):
    """Rows with one tag."""

    training_rows: int
    """Rows to train."""
    validation_rows: int
    """Rows that are held out."""


class _Counts(DescribedModel):
    rows: int
    """Rows of all sources."""
    skipped_rows: int
    """Rows that were left out because no job takes them; 0 unless `invalid_rows` is `skip`."""
    training_rows: int
    """Rows to train."""
    validation_rows: int
    """Rows that are held out."""
    row_groups: int
    """Clusters of rows whose prompts are nearly the same; no cluster is in both files."""
    tags: dict[str, TagRows]
    """Rows of each tag."""


class CurriculumOrigin(_Counts):
    """The sources that the files of a curriculum were made from."""

    method: MethodType
    """The kind of job that the rows are for."""
    split: SplitOptions
    """The held-out part, as it was sent."""
    invalid_rows: Literal["refuse", "skip"]
    """The treatment of rows that no job takes."""
    sources: list[Json]
    """The sources in their exact versions, without their rows."""


class PreviewedFile(DescribedModel):
    """The reading of a file of a source."""

    source: int
    """Position of the source in the call, from 0."""
    filename: str
    """Name of the file."""
    format: TableFormat | None
    """Its format; `null` if it cannot be read."""
    encoding: str | None
    """Encoding of a CSV file."""
    encoding_guessed: bool
    """True if other encodings fit too: look at the letters of `first_rows`."""
    delimiter: str | None
    """Delimiter of a CSV file."""
    header: list[str]
    """Names of the first 100 columns."""
    columns: Columns | None
    """The columns that become parts of a row; `null` if the records are rows of a job's file
    already, and `columns` of the source names none."""
    rows: int
    """Records that were read."""
    revision: str | None
    """Commit of the data set that the file is of; `null` for other files."""

    @classmethod
    def of(cls, reading: TableReading) -> "PreviewedFile":
        shown: dict[str, Any] = asdict(reading)
        shown["header"] = reading.header[:_FIRST_COLUMNS]
        return cls.model_validate(shown)


class CurriculumPreview(_Counts):
    """The contents of a curriculum that is not made, of its first 64 MiB of rows; nothing is
    stored.
    """

    object: Literal["curriculum.preview"] = "curriculum.preview"
    usable: bool
    """True if no finding is an error."""
    files: list[PreviewedFile]
    """The reading of each file."""
    first_rows: list[Json]
    """The first 5 rows as a job would read them."""
    findings: list[CurriculumFinding]
    """Errors first."""

    @classmethod
    def of(cls, gathered: CollectedRows) -> "CurriculumPreview":
        return cls(
            **gathered.summary(),
            usable=gathered.findings.error is None,
            files=[PreviewedFile.of(reading) for reading in gathered.readings],
            first_rows=gathered.first_rows,
            findings=gathered.findings.listed(),
        )


class GeneratedCurriculum(DescribedModel):
    """Rows of a curriculum, as a job's `curriculum` takes them."""

    training: list[Json]
    """Rows to train on; each has a `difficulty` from 0, easiest, to 1, hardest."""
    validation: list[Json]
    """Held-out rows."""


class GeneratedScenarios(DescribedModel):
    """The tasks that a model wrote."""

    object: Literal["scenarios"] = "scenarios"
    curriculum: GeneratedCurriculum
    """The rows; a create call takes them as its `curriculum`."""
    complete: bool
    """True when there are as many rows as were wanted."""
    faults: list[str]
    """Reasons why there are fewer rows."""
    duplicates: int
    """Tasks that were left out because they repeat another one, or almost."""
    unusable: int
    """Entries of the model's answers that were left out because they are no task with a
    difficulty."""
    questions: int
    """Questions that the model was asked."""
    prompt_tokens: int
    """Tokens of the questions."""
    completion_tokens: int
    """Tokens of the answers."""

    @classmethod
    def of(cls, written: ScenarioSet) -> "GeneratedScenarios":
        return cls.read(
            written,
            curriculum=GeneratedCurriculum(
                training=written.training, validation=written.validation
            ),
            complete=not written.faults,
        )


_FILES: Final = ("training", "training_file", "validation", "validation_file")
Rows = Annotated[list[Json], Field(min_length=1, max_length=MAX_ROWS)]


class _CurriculumKeys(WireModel):
    """Each split is the id of a file, or rows, from which a file of the project is made."""

    training_file: Text | None = None
    """Id of the file with the training rows."""
    validation_file: Text | None = None
    """Id of the file with the held-out rows."""
    training: Rows | None = None
    """Training rows, instead of `training_file`."""
    validation: Rows | None = None
    """Held-out rows, instead of `validation_file`."""
    metadata: Metadata | None = None

    def to_data(self, *, every: bool) -> dict[CurriculumSplit, SplitInput]:
        files = {"training": self.training_file, "validation": self.validation_file}
        rows = {"training": self.training, "validation": self.validation}
        return {
            split: SplitInput(files[split], rows[split])
            for split in CURRICULUM_SPLITS
            if every or {split, f"{split}_file"} & self.model_fields_set
        }


class CreateCurriculum(_CurriculumKeys, CurriculumOptions):
    """A new curriculum: ids of files, rows that are stored as files, or sources that both files are
    made from.
    """

    name: Text
    """Name that no other curriculum of the project has."""
    sources: Annotated[list[Source], Field(min_length=1, max_length=MOST_SOURCES)] | None = None
    """The sources of both files, one after the other; instead of `training`,
    `training_file` and those of the validation."""

    @model_validator(mode="after")
    def _check_sources(self) -> Self:
        making = {"method", "split", "invalid_rows"} & self.model_fields_set
        given = set(_FILES) & self.model_fields_set
        if self.sources is None and making:
            raise refused_value(min(making), "only a curriculum with 'sources' reads it")
        if self.sources is not None and given:
            raise refused_value("sources", f"it excludes '{min(given)}': send one of them")
        return self


class UpdateCurriculum(_CurriculumKeys):
    """Changes that make a new version of a curriculum; absent fields do not change, and `null`
    removes the validation file.
    """

    name: Text | None = None
    """Name that no other curriculum of the project has."""


class Curriculum(RegisteredObject):
    """A version of a registered curriculum: the files that jobs train and validate on."""

    object: Literal["curriculum"] = "curriculum"
    training_file: str
    """Id of the file with the training rows."""
    validation_file: str | None
    """Id of the file with the held-out rows."""
    training_rows: int
    """Lines that are not blank, counted in the file."""
    validation_rows: int | None
    """As `training_rows`."""
    training_sha256: str
    """SHA-256 of the file's bytes."""
    validation_sha256: str | None
    """As `training_sha256`."""
    made_from: CurriculumOrigin | None = Field(default=None, exclude_if=lambda value: value is None)
    """Sources and counts of files that the service made; absent for a curriculum of files."""

    @classmethod
    def of(cls, registered: RegisteredVersion, unread: Sequence[UnreadKey] = ()) -> "Curriculum":
        shown: dict[str, Any] = own_keys(registered, unread)
        for split in CURRICULUM_SPLITS:
            part = registered.definition.get(split) or {}
            shown[f"{split}_file"] = part.get("file_id")
            shown[f"{split}_rows"] = part.get("rows")
            shown[f"{split}_sha256"] = part.get("sha256")
        shown[MADE_FROM] = registered.definition.get(MADE_FROM)
        return cls.model_validate(shown)


class RunCurriculumTest(ClosedBody):
    """Options of a test of a curriculum."""

    tools: (
        Annotated[list[Annotated[str, Field(pattern=TOOL_NAME)]], Field(max_length=1024)] | None
    ) = None
    """Names of the job's tools; without them, rows may offer any tool."""
    method: MethodType | None = None
    """The kind of job that reads the rows; absent: that of its sources, else the
    one that its first row fits."""


class LinePair(DescribedModel):
    """Two lines with the same prompt."""

    first: int
    """Line number, from 1."""
    second: int
    """Line number of the same prompt, from 1."""


class SplitTest(DescribedModel):
    """Contents of one file of a curriculum."""

    file_id: str
    """Id of the file."""
    rows: int
    """Lines that are not blank."""
    faulty_rows: int
    """Rows with at least one fault."""
    duplicate_rows: int
    """Rows whose messages are on an earlier line as well."""
    duplicate_lines: list[LinePair]
    """The first of them: earlier line, repeated line."""
    tools: dict[str, int]
    """Number of rows that offer each tool, by name."""


class CurriculumTest(DescribedModel):
    """Result of reading the files of a curriculum; nothing is trained."""

    object: Literal["curriculum.test"] = "curriculum.test"
    curriculum_id: str
    """Id of the curriculum."""
    version: int
    method: MethodType
    """The kind of job that the rows were read for."""
    passed: bool
    """True when no fault is an error."""
    training: SplitTest
    """Counts of the training file."""
    validation: SplitTest | None
    """Counts of the validation file; `null` without one."""
    overlapping_rows: int
    """Validation rows whose prompt is in the training file too."""
    overlapping_lines: list[LinePair]
    """Line in the training file, line in the validation file."""
    faults: list[Fault]
    """Issues of rows, at most 100, then issues of a file as a whole."""


def line_pairs(lines: Iterable[tuple[int, int]]) -> list[LinePair]:
    return [LinePair(first=first, second=second) for first, second in lines]
