"""Guards standard output, whose faults become errors of the program, reads standard input as text,
and makes texts of a service safe for a terminal.

Models, tools and other users write them: a control sequence could move the cursor, set the title of
the window, fill the clipboard or disguise a line.
"""

import errno
import math
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TextIO, cast

from app.kit.errors import AgentRftError
from app.kit.processes import FAILED, WRONG_OPTIONS

if TYPE_CHECKING:
    from app.kit.errors import PreflightIssue


_UNSAFE: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1: escape sequences, carriage returns, backspaces
    "\xad\u061c\u180e\u200b\u200e\u200f"  # marks without a width
    "\u2028-\u202e\u2060-\u206f"  # line separators; embeddings, overrides and isolates
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
    "\ud800-\udfff"  # halves of pairs, which no encoding has
)
_IN_LINES: Final = re.compile(f"[{_UNSAFE}]")
_IN_A_LINE: Final = re.compile(f"[{_UNSAFE}\t\n]")


def printable(text: str) -> str:
    return _IN_A_LINE.sub(_escape, text)


def printable_lines(text: str) -> str:
    """Returns the text with its own line breaks and tabs; other characters as `printable`."""
    return _IN_LINES.sub(_escape, text.replace("\r\n", "\n"))


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode("ascii")


_MINUTE_S: Final = 60
_HOUR_S: Final = 3600


def moment(unix_s: float | None) -> str:
    if unix_s is None:
        return "-"
    try:
        return f"{datetime.fromtimestamp(unix_s, UTC):%Y-%m-%d %H:%M:%SZ}"
    except (OverflowError, ValueError, OSError):  # a service may answer any number
        return "-"


def duration(seconds: float) -> str:
    if not math.isfinite(seconds):
        return "-"
    left = max(0, round(seconds))
    hours, minutes = left // _HOUR_S, left % _HOUR_S // _MINUTE_S
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {left % _MINUTE_S:02} s" if minutes else f"{left} s"


_ERRORS: Final = "backslashreplace"


class OutputFailed(AgentRftError):
    """Standard output cannot be written: a full disk, a closed pipe."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output: {error.strerror or error}")
        self.has_no_reader = error.errno == errno.EPIPE


class StandardOutput:
    """Raises `OutputFailed`, then drops its input: a flush would fail again at the exit."""

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
    """Raises `OutputFailed` after the block; the shell may have closed any of the streams."""
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
        raise WrongOption("standard input is not UTF-8 text") from error


_SHOWN_PLACES: Final = 3


def issue_lines(severity: str, issues: "Iterable[PreflightIssue]") -> Iterator[str]:
    """Groups issues by their sentence. Rows with one fault are one issue already."""
    groups = dict[tuple[str, ...], list["PreflightIssue"]]()
    for issue in issues:
        # Rows share the parameter that names their file; elsewhere the parameter is the place.
        file, place = (issue.param or "", "") if issue.line is not None else ("", issue.param or "")
        sentence = issue.message.replace(place, "") if place else issue.message
        groups.setdefault((issue.code, file, sentence), []).append(issue)
    for first, *more in groups.values():
        where = f" [{first.param}]" if first.param else ""
        places = dict.fromkeys(issue.param for issue in (first, *more) if issue.param)
        shown = ", ".join(list(places)[:_SHOWN_PLACES])
        rest = ", …" if len(places) > _SHOWN_PLACES else ""
        counted = f" ({1 + len(more)} times{f': {shown}{rest}' if shown else ''})" if more else ""
        yield printable(f"{severity:7}  {first.code}{where}: {first.message}{counted}")


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


class WrongOption(ServiceError):
    """An option, an argument or a local file cannot be used."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=WRONG_OPTIONS)


@contextmanager
def local_faults(path: Path) -> Iterator[None]:
    """Converts a fault of a local file, `path` unless it names another, into `WrongOption`."""
    try:
        yield
    except OSError as error:
        raise WrongOption(f"{error.filename or path}: {error.strerror}") from error


@contextmanager
def whole_file(target: Path) -> Iterator[BinaryIO]:
    """Yields a new file that takes the place of `target` at the end of the block, or is gone."""
    # A file of `mkstemp` is for its owner alone, whatever the umask.
    descriptor, made = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        Path(made).replace(target)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise


class CreationUnknown(ServiceError):
    """A create call has no answer of the service: the object may exist."""
