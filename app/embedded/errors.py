"""Errors of a single-machine installation, in words a person can act on.

Owns: the error types of this room and the exit code each gives the command line.
Promises: a message says what failed and what to do; log tails ride along, secrets never.
"""

from typing import ClassVar


class EmbeddedError(Exception):
    """Root of the supervisor's errors. `exit_code` is what `agent-rft` ends with."""

    exit_code: ClassVar[int] = 1


class BinaryMissing(EmbeddedError):
    """No usable Postgres or Valkey on this machine."""

    exit_code = 3


class PortInUse(EmbeddedError):
    """The address the API was asked to listen on is taken."""

    exit_code = 4


class DataDirBusy(EmbeddedError):
    """Another supervisor owns the data directory."""

    exit_code = 5


class ChildFailed(EmbeddedError):
    """A child ended or never became ready during the first start."""

    exit_code = 6


class DataDirUnusable(EmbeddedError):
    """The data directory cannot be written, or not by the user that Postgres must run as."""

    exit_code = 7
