"""Registered curricula on the wire (an extension)."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from app.api.schemas.common import ClosedBody, Metadata, WireModel
from app.api.schemas.curriculum_sources import CurriculumOrigin, MakingKeys
from app.api.schemas.jobs import Text
from app.api.schemas.preflight import Fault
from app.api.schemas.registry import RegisteredObject, own_keys
from app.domain.curricula.sources import MOST_SOURCES, Source
from app.domain.documents.field_descriptions import DescribedModel
from app.domain.documents.json_object import Json
from app.domain.errors import refused_value
from app.domain.faults.unknown_keys import UnreadKey
from app.domain.methods.supervised import MethodType
from app.domain.registry.curricula import (
    CURRICULUM_SPLITS,
    MADE_FROM,
    MAX_ROWS,
    CurriculumReport,
    CurriculumSplit,
    SplitInput,
    SplitReport,
)
from app.domain.registry.registered_objects import RegisteredVersion
from app.domain.texts.patterns import TOOL_NAME

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
        """Returns the splits that were sent; with `every`, also those that were not."""
        files = {"training": self.training_file, "validation": self.validation_file}
        rows = {"training": self.training, "validation": self.validation}
        return {
            split: SplitInput(files[split], rows[split])
            for split in CURRICULUM_SPLITS
            if every or {split, f"{split}_file"} & self.model_fields_set
        }


class CreateCurriculum(_CurriculumKeys, MakingKeys):
    """A new curriculum: ids of files, rows that are stored as files, or sources that both files are
    made from.
    """

    name: Text
    """Name that no other curriculum of the project has."""
    sources: Annotated[list[Source], Field(min_length=1, max_length=MOST_SOURCES)] | None = None
    """The sources of both files, one after the other; instead of `training`,
    `training_file` and those of the validation.
    """

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
    one that its first row fits.
    """


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

    @classmethod
    def of(cls, report: SplitReport) -> "SplitTest":
        return cls(
            file_id=report.file_id,
            rows=report.rows,
            faulty_rows=report.faulty_rows,
            duplicate_rows=report.duplicate_rows,
            duplicate_lines=_pairs(report.duplicate_lines),
            tools=report.tools,
        )


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

    @classmethod
    def of(cls, registered: RegisteredVersion, report: CurriculumReport) -> "CurriculumTest":
        validation = report.splits.get("validation")
        return cls(
            curriculum_id=registered.id,
            version=registered.version,
            method=report.method,
            passed=report.passed,
            training=SplitTest.of(report.splits["training"]),
            validation=None if validation is None else SplitTest.of(validation),
            overlapping_rows=report.overlapping_rows,
            overlapping_lines=_pairs(report.overlapping_lines),
            faults=[Fault.of(issue) for issue in report.faults],
        )


def _pairs(lines: tuple[tuple[int, int], ...]) -> list[LinePair]:
    return [LinePair(first=first, second=second) for first, second in lines]
