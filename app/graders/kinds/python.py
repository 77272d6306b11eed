"""Scores with the customer's function `grade(sample, item)`, run in the sandbox.

An exception, a timeout or any other value is an error of the grader, with its line: the rollout
leaves the batch.
"""

from typing import Final

from app.graders.program_definitions import PythonGrader
from app.graders.program_runs import ArgumentsTooLarge, ProgramFailed, run_program
from app.graders.python_source import FUNCTION
from app.graders.scorer import GradeRequest, GraderErrors, ScoreFault, ScoreResult, finite
from app.kit.endpoints import FaultKind
from app.tools.programs import FunctionCall
from app.tools.sandbox import Sandbox

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
