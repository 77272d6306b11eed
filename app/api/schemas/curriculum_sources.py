"""Sources of curricula on the wire (an extension): what a curriculum was made from, and the preview
before it is made.
"""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field

from app.api.schemas.common import ClosedBody, WireModel
from app.domain.curricula.reports import CollectedRows, Severity, TableReading
from app.domain.curricula.sources import (
    MOST_SOURCES,
    Columns,
    CurriculumOptions,
    Source,
    SplitOptions,
    TableFormat,
)
from app.domain.documents.field_descriptions import DescribedModel
from app.domain.documents.json_object import Json
from app.domain.methods.supervised import MethodType

_FIRST_COLUMNS = 100


class MakingKeys(WireModel):
    """Options for the rows of `sources`."""

    method: MethodType = "reinforcement"
    """The kind of job that the rows of `sources` are for."""
    split: SplitOptions = SplitOptions()
    """The held-out part of the rows of `sources`. Rows that are nearly the same are on one side,
    unless the finding `alike_rows` says otherwise.
    """
    invalid_rows: Literal["refuse", "skip"] = "refuse"
    """`skip` leaves out rows of `sources` that no such job takes, and counts them; `refuse` refuses
    the call.
    """

    def to_options(self) -> CurriculumOptions:
        return CurriculumOptions(
            method=self.method, split=self.split, invalid_rows=self.invalid_rows
        )


class PreviewCurriculum(MakingKeys, ClosedBody):
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
    already, and `columns` of the source names none.
    """
    rows: int
    """Records that were read."""
    revision: str | None
    """Commit of the data set that the file is of; `null` for other files."""

    @classmethod
    def of(cls, reading: TableReading) -> "PreviewedFile":
        shown: dict[str, Any] = asdict(reading)
        shown["header"] = reading.header[:_FIRST_COLUMNS]
        return cls.model_validate(shown)


class CurriculumFinding(DescribedModel):
    """Something that is worth knowing about the rows."""

    severity: Severity
    """`error`: the curriculum would be refused."""
    code: str
    """The finding in a word that programs can compare."""
    message: str
    """The finding in a sentence; of a row, the first one."""
    source: int | None
    """Position of the source in the call; `null` for all together."""
    rows: int
    """Number of rows with it; 0 if it is not about rows."""
    lines: list[int]
    """The first 20 of these rows by their line in the file, from 1."""


class CurriculumPreview(_Counts):
    """The contents of a curriculum that is not made; nothing is stored."""

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
            findings=[CurriculumFinding(**asdict(one)) for one in gathered.findings.listed()],
        )
