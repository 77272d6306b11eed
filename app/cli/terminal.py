"""Guards standard output, whose faults become errors of the program, and reads standard input as
text.
"""

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final, Protocol, TextIO, cast

from app.cli.printable import printable
from app.kit.errors import AgentRftError
from app.kit.processes import FAILED, WRONG_OPTIONS

_ERRORS: Final = "backslashreplace"


class OutputFailed(AgentRftError):
    """Standard output cannot be written: a full disk, a closed pipe."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output: {error.strerror or error}")
        self.has_no_reader = error.errno == errno.EPIPE


class StandardOutput:
    """Passes everything on to a stream. Raises `OutputFailed`, after which the stream drops its
    input, because flushing it would fail again when the interpreter exits.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with self._faults():
            return self._stream.write(text)

    def flush(self) -> None:
        with self._faults():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            with suppress(OSError):
                nothing = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nothing, self._stream.fileno())
                os.close(nothing)
            raise OutputFailed(error) from error


@contextmanager
def standard_streams() -> Iterator[None]:
    """Guards the streams of a program; the shell may have closed any of them. Raises `OutputFailed`
    at the end of a block whose output could not be written.
    """
    before = sys.stdin, sys.stdout, sys.stderr
    with ExitStack() as opened:
        sys.stdin = before[0] or opened.enter_context(_nothing("r"))
        sys.stderr = before[2] or opened.enter_context(_nothing("w"))
        # It takes reads alone, so that a print fails as on a closed descriptor.
        stdout = before[1] or opened.enter_context(_nothing("w", flags=os.O_RDONLY))
        sys.stdout = cast("TextIO", StandardOutput(stdout))
        try:
            yield
            sys.stdout.flush()
        except SystemExit:
            sys.stdout.flush()
            raise
        finally:
            sys.stdin, sys.stdout, sys.stderr = before


def _nothing(mode: str, *, flags: int = os.O_RDWR) -> TextIO:
    opened = os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8", errors=_ERRORS)
    return cast("TextIO", opened)


def read_stdin(limit: int = -1) -> str:
    """Returns standard input. Raises `ServiceError` for input that is not text."""
    try:
        return sys.stdin.buffer.read(limit).decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ServiceError("standard input is not UTF-8 text", exit_code=WRONG_OPTIONS) from error


_SHOWN_LOCATIONS: Final = 3


class Issue(Protocol):
    @property
    def code(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def param(self) -> str | None: ...
    @property
    def line(self) -> int | None: ...
    @property
    def pointer(self) -> str | None: ...


def issue_lines(severity: str, issues: Iterable[Issue]) -> Iterator[str]:
    """Yields a line for each different sentence, in the order of the first issue of each, with the
    number of issues and their first places.
    """
    groups: dict[tuple[str, str | None, str], list[Issue]] = {}
    for issue in issues:
        # Rows share the parameter that names their file; elsewhere the parameter is the place.
        file = None if issue.line is None else issue.param
        groups.setdefault((issue.code, file, _sentence(issue)), []).append(issue)
    for alike in groups.values():
        yield printable(f"{severity:7}  {_merged(alike)}")


def _merged(alike: list[Issue]) -> str:
    first = alike[0]
    where = f" [{first.param}]" if first.param else ""
    beginning = f"{first.code}{where}: "
    if len(alike) == 1:
        return beginning + first.message
    locations = list(dict.fromkeys(filter(None, map(_location, alike))))
    shown = ", ".join(locations[:_SHOWN_LOCATIONS])
    more = ", …" if len(locations) > _SHOWN_LOCATIONS else ""
    text = _without_line(first) if first.line is not None else first.message
    at = f": {shown}{more}" if locations else ""
    return f"{beginning}{text} ({len(alike)} times{at})"


def _location(issue: Issue) -> str | None:
    if issue.line is None:
        return issue.param
    return f"line {issue.line}" + (f" {issue.pointer}" if issue.pointer else "")


def _sentence(issue: Issue) -> str:
    """Returns the message without its location, which is different in each issue."""
    if issue.line is not None:
        return _without_line(issue)
    return issue.message.replace(issue.param, "") if issue.param else issue.message


def _without_line(issue: Issue) -> str:
    location = f"Line {issue.line}" + (f", {issue.pointer}" if issue.pointer else "")
    return issue.message.removeprefix(f"{location}: ")


_LONGEST: Final = 2000


class ServiceError(AgentRftError):
    """A call of the service failed. Its text is one line that a terminal may show."""

    def __init__(
        self, message: str, *, exit_code: int = FAILED, error: dict[str, Any] | None = None
    ) -> None:
        """`error` has the status and the error object of the service's reply."""
        shown = printable(message)
        super().__init__(shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…")
        self.exit_code = exit_code
        self.error = error or {}


class CreationUnknown(ServiceError):
    """A create call has no answer of the service: the object may exist."""
