"""Errors of a single-machine installation, with messages that a user can act on.

Owns: the error types of this package and the exit code of each.
Promises: a message names the failure and the remedy; it may contain the end of a log, never a
secret.
"""

from typing import ClassVar


class EmbeddedError(Exception):
    """Base class of the supervisor's errors. `exit_code` is the exit status of `agent-rft`."""

    exit_code: ClassVar[int] = 1


class BinaryMissing(EmbeddedError):
    """No usable Postgres or Valkey on this machine."""

    exit_code = 3


class PortInUse(EmbeddedError):
    """Another program uses the address that the API should listen on."""

    exit_code = 4


class DataDirBusy(EmbeddedError):
    """Another supervisor owns the data directory."""

    exit_code = 5


class ChildFailed(EmbeddedError):
    """A child ended or did not become ready during the first start."""

    exit_code = 6


class DataDirUnusable(EmbeddedError):
    """The data directory is not writable for us, or not for the user that Postgres runs as."""

    exit_code = 7
