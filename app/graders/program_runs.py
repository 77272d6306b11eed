"""Runs a program of a grader in the sandbox, and parses its reply.

Untrusted code wrote the reply, so every part of it is checked.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from app.graders.scorer import GraderErrors, ScoreFault, run_on_scoring_thread
from app.kit.endpoints import FaultKind
from app.kit.strict_json import strict_loads
from app.tools.programs import Program, ProgramOutcome
from app.tools.sandbox import ProgramTooLarge, Sandbox, SandboxUnavailable

_MAX_TEXT: Final = 1000


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The value of a program's function, or the output of a script."""

    value: Any
    elapsed_s: float


class ProgramFailed(Exception):
    """The code of a program failed. The text names the line, for its author."""

    def __init__(self, text: str, *, elapsed_s: float, timed_out: bool = False) -> None:
        super().__init__(text)
        self.elapsed_s = elapsed_s
        self.timed_out = timed_out


class ArgumentsTooLarge(Exception):
    """The arguments of a program are larger than the sandbox accepts. The caller knows their origin
    and names it in the error.
    """


async def run_program(sandbox: Sandbox, program: Program, *, source: str) -> ProgramResult:
    """Runs a program. Raises `ProgramFailed`, `ArgumentsTooLarge`, and `ScoreFault` if the sandbox
    failed. `source` is the grader's name.
    """
    try:
        ending = await sandbox.run(program)
    except SandboxUnavailable as error:
        errors = GraderErrors(
            python_grader_server_error=True,
            python_grader_server_error_type="sandbox_unavailable",
            details=str(error),
        )
        kind = FaultKind.UNREACHABLE.value
        raise ScoreFault(kind, str(error), source=source, errors=errors) from error
    except ProgramTooLarge as error:
        raise ArgumentsTooLarge(f"too large for the sandbox: {error}") from None
    return await run_on_scoring_thread(partial(_read, ending))


def _read(ending: ProgramOutcome) -> ProgramResult:
    if ending.how != "replied":
        raise ProgramFailed(
            ending.detail, elapsed_s=ending.elapsed_s, timed_out=ending.how == "time_limit"
        )
    try:
        reply = strict_loads(ending.reply, most=None)
    except (ValueError, RecursionError):
        reply = None
    match reply:
        case {"error": {"text": str(text)}}:
            raise ProgramFailed(_with_location(text, reply["error"]), elapsed_s=ending.elapsed_s)
        case {"value": value}:
            return ProgramResult(value, ending.elapsed_s)
        case {"output": str(value)}:
            return ProgramResult(value, ending.elapsed_s)
        case _:
            text = "it wrote something else to its result's channel than one result"
            raise ProgramFailed(text, elapsed_s=ending.elapsed_s)


def _with_location(text: str, location: dict[str, Any]) -> str:
    line, function, code = location.get("line"), location.get("function"), location.get("code")
    if not isinstance(line, int):
        return text[:_MAX_TEXT]
    words = [f"line {line}"]
    if isinstance(function, str) and function != "<module>":
        words.append(f"in {function}")
    quoted = f": {code}" if isinstance(code, str) and code else ""
    return f"{text} ({', '.join(words)}{quoted})"[:_MAX_TEXT]
