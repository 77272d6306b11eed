"""A preflight report: its issues, the contents of its files, the estimate of the job."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from app.files.datasets import Overlap
from app.graders.choice import GraderChoice
from app.jobs.reinforcement import ReinforcementHyperparameters
from app.jobs.row_tries import NO_NEEDS, RowNeeds
from app.jobs.supervised import MethodType, TrainOn
from app.kit.errors import InvalidRequest, PreflightIssue
from app.kit.fields import DescribedFields
from app.models.models import BaseModelSpec

Basis = Literal["history", "assumption"]


def issue_of(error: InvalidRequest) -> PreflightIssue:
    """Returns the issue that corresponds to an error of a create call."""
    return PreflightIssue("error", error.code or "invalid_value", error.message, error.param)


@dataclass(frozen=True, slots=True)
class TokenLengths(DescribedFields):
    """Prompt lengths in tokens, through the model's own chat template."""

    measured_rows: int
    """Number of measured rows: all rows, or an even sample and the longest rows of a large file."""
    mean: float
    """Mean over the measured rows."""
    p50: int
    """Half of the rows are at most as long."""
    p90: int
    """Nine of ten rows are at most as long."""
    p99: int
    """99 of 100 rows are at most as long."""
    max: int
    """The longest row."""
    context_length: int
    """Tokens of the base model's context."""
    over_context: int
    """Measured prompts that leave the model no room for an answer."""


@dataclass(frozen=True, slots=True)
class FileSummary(DescribedFields):
    """Summary of one file. Faulty rows are counted too."""

    rows: int
    """Lines that are not blank."""
    faulty_rows: int
    """Rows with at least one fault."""
    duplicate_rows: int
    """Rows whose messages are on an earlier line as well."""
    duplicate_lines: tuple[tuple[int, int], ...]
    """The first of them: (earlier line, repeated line)."""
    tokens: TokenLengths | None
    """Lengths of its prompts; `null` without a known base model."""
    tools: dict[str, int]
    """Rows that offer each tool."""


@dataclass(frozen=True, slots=True)
class EndpointCheck(DescribedFields):
    """Result of a HEAD request to a customer's address, or of the listing of an MCP server; no tool
    is run.
    """

    param: str
    """The parameter of the create call with the address."""
    name: str
    """Name of the tool or grader, or label of the MCP server."""
    reachable: bool
    """True if it answered, whatever the status."""
    status: int | None
    """HTTP status of the answer; `null` for an MCP server."""
    latency_ms: float | None
    """Milliseconds until the answer."""
    detail: str | None
    """The failure in a sentence."""


@dataclass(frozen=True, slots=True)
class Estimate(DescribedFields):
    """Estimated cost of the job if it runs to its last step."""

    total_steps: int
    """Optimizer steps."""
    train_rollouts: int
    """Rollouts of training."""
    validation_rollouts: int
    """Rollouts of all validations."""
    prompt_tokens: int
    """Tokens of all prompts."""
    completion_tokens: int
    """Tokens that the policy would sample."""
    training_seconds: float | None
    """Wall time of one worker, `None` if the pace is unknown."""
    basis: Basis
    """`history`: the pace and lengths of this project's finished jobs on the same base model."""
    explanation: str
    """The basis of the numbers in a sentence."""


@dataclass(frozen=True, slots=True)
class InspectionRequest:
    """The files to inspect, with all settings that affect it. A path is `None` when the call names
    no usable file.
    """

    method: MethodType
    training: Path | None
    validation: Path | None
    job_tools: frozenset[str] | None
    """Names of the tools that the job runs; `None`: calls of rows' tools are graded, not run."""
    base_model: BaseModelSpec | None
    calls_answered: bool = False
    """True if an HTTP environment answers the calls of the policy."""
    reasoning_effort: str | None = None
    train_on: TrainOn = "all"
    needs: RowNeeds = NO_NEEDS
    """Needs of the graders that every row must meet."""
    batch_size: int | None = None
    """The number that was sent; `None` for `auto`."""
    hyperparameters: ReinforcementHyperparameters | None = None
    """Hyperparameters of a reinforcement job; `None` for invalid ones and for other methods."""
    no_room_share: float | None = None
    """Share of validation prompts without room for an answer that ends the job; `None` if the check
    is off.
    """
    sample_rows: int = 0
    """Rows of each file to return."""
    shared_tools: tuple[dict[str, Any], ...] = ()
    """Functions that the job offers on every row, after the row's own ones."""
    reads_difficulty: bool = False
    """True if the job's ordering reads the difficulty of each row."""
    names_method: bool = True
    """False for a call without `method`, which is read as supervised."""


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A row of a job's file."""

    param: str
    line: int
    item: dict[str, Any]


@dataclass(frozen=True, slots=True)
class DatasetReport:
    training: FileSummary | None
    validation: FileSummary | None
    overlap: Overlap | None
    issues: tuple[PreflightIssue, ...]
    sample_rows: tuple[SampleRow, ...] = ()

    @property
    def warnings(self) -> list[str]:
        """Returns the sentence of each warning once, however many rows have it."""
        return list(dict.fromkeys(found.message for found in self._warnings))

    def warnings_about(self, param: str) -> list[str]:
        """Returns the warnings about one parameter."""
        return list(dict.fromkeys(one.message for one in self._warnings if one.param == param))

    @property
    def _warnings(self) -> list[PreflightIssue]:
        return [issue for issue in self.issues if issue.severity == "warning"]


@dataclass(frozen=True, slots=True)
class PreflightReport:
    """All issues of a call, with its numbers. `valid` means that no issue is an error."""

    model: str | None
    method: str
    dataset: DatasetReport | None
    endpoints: tuple[EndpointCheck, ...] = ()
    estimate: Estimate | None = None
    issues: tuple[PreflightIssue, ...] = field(default=())
    """Issues of the call, the files and the endpoints, in this order."""
    grader_choice: GraderChoice | None = None
    """The choice of a call whose grader is `auto`."""

    @property
    def valid(self) -> bool:
        return all(issue.severity != "error" for issue in self.issues)
