"""A registered curriculum: the data of jobs, and the result of its test. Pure data."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, StringConstraints

from app.jobs.losses import OneOf
from app.jobs.supervised import MethodType
from app.kit.fields import DescribedModel, Json
from app.kit.ids import Split
from app.kit.schemas import WireModel
from app.kit.texts import DATA_SET, DATA_SPLIT, REVISION
from app.rollouts.trajectory import StopReason

MAX_ROWS: Final = 100_000
MADE_FROM: Final = "made_from"
"""Key of a definition, beside those of its files: the sources that they were made from."""
CurriculumSplit = Literal["training", "validation"]
CURRICULUM_SPLITS: Final[tuple[CurriculumSplit, ...]] = ("training", "validation")


@dataclass(frozen=True, slots=True)
class SplitFile:
    file_id: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class SplitInput:
    """One split of a request: a file id, or rows, or neither."""

    file_id: str | None
    rows: list[dict[str, Any]] | None


MOST_SOURCES: Final = 16
TableFormat = Literal["jsonl", "csv", "parquet"]
Delimiter = Literal[",", ";", "\t", "|", ":"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]
_Limit = Annotated[int, Field(ge=1, le=MAX_ROWS, strict=True)]
_Flag = Annotated[bool, Field(strict=True)]


class _ClosedModel(DescribedModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Columns(_ClosedModel):
    """The columns of a table by the part of a row that they become. Those that are left out are
    guessed from the names of the columns; all other columns keep their names, for graders.
    """

    prompt: Name | None = None
    """Text of the user's message."""
    system: Name | None = None
    """Text of the system message."""
    answer: Name | None = None
    """The answer: learned by supervised jobs, `item.answer` of graders in reinforcement jobs."""
    chosen: Name | None = None
    """The better answer of a pair."""
    rejected: Name | None = None
    """The worse answer of a pair."""
    messages: Name | None = None
    """A conversation as JSON, instead of `prompt` and `system`."""
    tags: Name | None = None
    """Names of groups, separated by `;` or `,`, by which the held-out part is balanced."""
    difficulty: Name | None = None
    """A number from 0, easy, to 1, hard."""


class TableSource(_ClosedModel):
    """Options of every source with rows in a file."""

    columns: Columns = Columns()
    """Columns that are not guessed."""
    limit: _Limit | None = None
    """Reads no more than this many rows; without it, more rows than a curriculum may have are
    refused."""


class FileSource(TableSource):
    """A file of the project: JSON Lines, CSV or Parquet. A CSV file is uploaded with the purpose
    `user_data`.
    """

    type: Literal["file"]
    """A file of the project."""
    file_id: Name
    """Id of the file."""
    format: TableFormat | None = None
    """Absent: recognised by its content and name."""
    delimiter: Delimiter | None = None
    """Delimiter of CSV; absent: recognised."""
    encoding: Name | None = None
    """Encoding of CSV, such as `utf-8`, `windows-1252` or `shift_jis`; absent: recognised."""
    header: _Flag = True
    """False: the first row of a CSV file has values, and the columns are `column_1`, `column_2`, …
    """


class RowsSource(TableSource):
    """Rows in the request: rows of a job's file, or flat objects whose keys are columns."""

    type: Literal["rows"]
    """Rows in the request."""
    rows: Annotated[list[Json], Field(min_length=1, max_length=MAX_ROWS)]
    """The rows."""


class CurriculumSource(_ClosedModel):
    """Both files of another curriculum of the project."""

    type: Literal["curriculum"]
    """Another curriculum."""
    curriculum_id: Name
    """Id of the curriculum."""
    version: Annotated[int, Field(ge=1, le=2**31 - 1, strict=True)] | None = None
    """Number of its version; absent: the newest."""


class RolloutsSource(_ClosedModel):
    """The rollouts of a reinforcement job that meet every condition. `reinforcement` takes the rows
    that they played, with the measured difficulty; `supervised` their conversations; `dpo` the best
    against the worst answer of each row.
    """

    type: Literal["rollouts"]
    """Rollouts of a job."""
    job_id: Name
    """Id of a job that has ended."""
    split: Split | None = None
    """Only rollouts of this part."""
    step: Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)] | None = None
    """Only rollouts of this step; 0 is the baseline."""
    min_reward: float | None = Field(default=None, strict=True, allow_inf_nan=False)
    """Only rollouts with at least this reward."""
    max_reward: float | None = Field(default=None, strict=True, allow_inf_nan=False)
    """Only rollouts with at most this reward."""
    stop_reason: StopReason | None = None
    """Only rollouts that ended for this reason."""


class BuildSource(_ClosedModel):
    """The files of a build from feedback. The removal of an end user finds the rows here too."""

    type: Literal["feedback_build"]
    """A build from feedback."""
    build_id: Name
    """Id of the build."""


class HubSource(TableSource):
    """A public data set of the operator's hub, by default Hugging Face. It is read no further than
    it is needed, and kept at its commit.
    """

    type: Literal["huggingface"]
    """A data set of the hub."""
    data_set: Annotated[str, Field(pattern=DATA_SET, max_length=128)]
    """Name of the data set, such as `openai/gsm8k`."""
    config: Name | None = None
    """Name of its configuration; absent: `default`, or the only one."""
    split: Annotated[str, Field(pattern=DATA_SPLIT)] = "train"
    """Name of its split."""
    revision: Annotated[str, Field(pattern=REVISION)] | None = None
    """A branch, tag or commit; absent: `main`. `made_from` keeps the commit."""


AnySource = FileSource | RowsSource | CurriculumSource | RolloutsSource | BuildSource | HubSource
Source = Annotated[AnySource, Field(discriminator="type"), OneOf("source")]


class SplitOptions(_ClosedModel):
    """The held-out part: its size and the seed of the choice."""

    validation_share: Annotated[float, Field(strict=True, ge=0, le=0.5)] = 0.2
    """Share of the rows that is held out, at most 1,000 rows; 0 holds out nothing."""
    seed: Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)] = 0
    """Chooses among the clusters of rows; the same seed makes the same choice."""


class CurriculumOptions(WireModel):
    """Options for the rows of `sources`."""

    method: MethodType = "reinforcement"
    """The kind of job that the rows of `sources` are for."""
    split: SplitOptions = SplitOptions()
    """The held-out part of the rows of `sources`. Rows that are nearly the same are on one side,
    unless the finding `alike_rows` says otherwise."""
    invalid_rows: Literal["refuse", "skip"] = "refuse"
    """`skip` leaves out rows of `sources` that no such job takes, and counts them; `refuse` refuses
    the call."""
