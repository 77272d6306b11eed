"""Scores with the customer's function `grade(sample, item)`, run in the sandbox.

An exception, a timeout or any other value is an error of the grader, with its line: the rollout
leaves the batch.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from pydantic import BaseModel, Field, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.grader_model import GraderModel, graders_in
from app.graders.program_runs import ArgumentsTooLarge, ProgramFailed, run_program
from app.graders.python_source import (
    FUNCTION,
    MAX_READ,
    MAX_SOURCES,
    SourceFault,
    check_size,
    check_source,
)
from app.graders.scorer import (
    GradeRequest,
    GraderErrors,
    GradingPorts,
    ScoreFault,
    Scorer,
    ScoreResult,
    finite,
)
from app.kit.endpoints import FaultKind
from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import Path, parameter
from app.tools.programs import FunctionCall
from app.tools.sandbox import Sandbox


class PythonGrader(GraderModel):
    """A function `grade(sample, item)` that returns the score; it runs in the sandbox."""

    type: Literal["python"]
    name: str = Field(default="python", min_length=1, max_length=256)
    source: str
    """The source, at most 256,000 bytes, that defines `grade`. It can use no files, no network and
    no other process, and by default 5 seconds and 256 MiB, which the operator can change.
    """
    image_tag: str | None = Field(
        default=None, min_length=1, max_length=128, exclude_if=lambda value: value is None
    )
    """It is echoed without effect: the operator determines the modules."""

    @field_validator("source")
    @classmethod
    def _is_taken(cls, source: str) -> str:
        # `source_faults` parses it: this runs on the event loop, and for each stored grader.
        try:
            check_size(source)
        except SourceFault as fault:
            raise PydanticCustomError("source_error", "{fault}", {"fault": str(fault)}) from None
        return source

    @property
    @override
    def reads_beside_templates(self) -> bool:
        return True

    @property
    @override
    def repeats_its_scores(self) -> bool:
        return False

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return PythonScorer(self, ports.sandbox, source=source)


def source_faults(definitions: Sequence[tuple[str, BaseModel]]) -> Iterator[InvalidRequest]:
    """Yields the first fault of each python grader at or below the definitions, which are given by
    their parameters. Yields only one fault if the sources are too large in total.
    """
    sources = [
        (parameter(root, (*path, "source")), grader.source)
        for root, definition in definitions
        for path, grader in python_graders(definition)
    ]
    too_many = _too_many(sources)
    if too_many is not None:
        yield too_many
        return
    left = MAX_READ
    for param, source in sources:
        left -= len(source.encode())
        if left < 0:
            return
        try:
            check_source(source)
        except SourceFault as fault:
            yield refused_value(param, str(fault))


def _too_many(sources: Sequence[tuple[str, str]]) -> InvalidRequest | None:
    """Returns the error for the source that exceeds the total limit."""
    together = 0
    for param, source in sources:
        together += len(source.encode())
        if together > MAX_SOURCES:
            limit = f"at most {MAX_SOURCES} bytes together"
            return refused_value(
                param, f"the sources of all python graders of a request have {limit}"
            )
    return None


def python_graders(definition: BaseModel) -> Iterator[tuple[Path, PythonGrader]]:
    """Yields each python grader at or below `definition` with its path."""
    for path, grader in graders_in(definition):
        if isinstance(grader, PythonGrader):
            yield path, grader


RETURNED: Final = f"'{FUNCTION}' returned "
"""Beginning of the message about an invalid score."""


class PythonScorer:
    """Implements `Scorer`."""

    def __init__(self, spec: PythonGrader, sandbox: Sandbox, *, source: str) -> None:
        self._code = spec.source
        self._sandbox = sandbox
        self._source = source

    async def score(self, request: GradeRequest) -> ScoreResult:
        call = FunctionCall(self._code, FUNCTION, (request.sample, request.item))
        try:
            result = await run_program(self._sandbox, call, source=self._source)
        except ProgramFailed as failed:
            kind = FaultKind.TIMEOUT if failed.timed_out else FaultKind.ERROR
            raise self._fault(kind, str(failed)) from None
        except ArgumentsTooLarge as fault:
            message = f"the sample and the item are {fault}"
            raise self._fault(FaultKind.ERROR, message) from None
        score = finite(result.value)
        if score is None:
            shown = f"{RETURNED}{_shown(result.value)}; a score is a finite number"
            raise self._fault(FaultKind.ERROR, shown)
        return ScoreResult(score, execution_time_s=result.elapsed_s)

    def _fault(self, kind: FaultKind, message: str) -> ScoreFault:
        errors = GraderErrors(
            python_grader_runtime_error=True,
            python_grader_runtime_error_details=message,
            details=message,
        )
        return ScoreFault(kind.value, message, source=self._source, errors=errors)


def _shown(value: object) -> str:
    """Returns a short description of a value."""
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, int | float):
        return "a number that is too large"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "a dict"
