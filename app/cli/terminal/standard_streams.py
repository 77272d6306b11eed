"""Guards standard output, whose faults become errors of the program, and reads standard input as
text.

Promises: unwritten output is always reported, even if it is still in a buffer when the interpreter
exits.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final, TextIO, cast

from app.cli.terminal.service_errors import ServiceError
from app.domain.errors import AgentRftError
from app.domain.processes.exit_codes import WRONG_OPTIONS

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
