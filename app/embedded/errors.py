"""Errors of a single-machine installation, with messages that a user can act on.

Owns: the error types of this package; `app/domain/processes/exit_codes.py` has the numbers.
Promises: a message names the failure and the remedy; it may contain the end of a log, never a
secret.
"""

from typing import ClassVar

from app.domain.processes import exit_codes


class EmbeddedError(Exception):
    """Base class of the supervisor's errors. `exit_code` is the exit status of `agent-rft`."""

    exit_code: ClassVar[int] = exit_codes.FAILED


class WrongOptions(EmbeddedError):
    """Options or settings that contradict each other."""

    exit_code = exit_codes.WRONG_OPTIONS


class BinaryMissing(EmbeddedError):
    """No usable Postgres or Valkey on this machine."""

    exit_code = exit_codes.BINARY_MISSING


class PortInUse(EmbeddedError):
    """Another program uses the address that the API should listen on."""

    exit_code = exit_codes.PORT_IN_USE


class DataDirBusy(EmbeddedError):
    """Another supervisor owns the data directory."""

    exit_code = exit_codes.DATA_DIR_BUSY


class ChildFailed(EmbeddedError):
    """A child ended or did not become ready during the first start."""

    exit_code = exit_codes.CHILD_FAILED


class DataDirUnusable(EmbeddedError):
    """The data directory is not writable for the supervisor, or not for the user of Postgres."""

    exit_code = exit_codes.DATA_DIR_UNUSABLE


class ModelNotFound(EmbeddedError):
    """Neither a directory nor a hub snapshot of a base model is available here."""

    exit_code = exit_codes.MODEL_NOT_FOUND


class ModelRefused(EmbeddedError):
    """A base model that cannot be trained or served here."""

    exit_code = exit_codes.MODEL_REFUSED


class DoesNotFit(EmbeddedError):
    """A base model that does not fit into the memory of this machine."""

    exit_code = exit_codes.DOES_NOT_FIT


class EngineNotInstalled(EmbeddedError):
    """The environment of vLLM is missing, and was not made."""

    exit_code = exit_codes.ENGINE_NOT_INSTALLED
