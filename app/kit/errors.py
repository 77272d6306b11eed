"""The errors that this project raises on purpose, as one tree.

A `RequestError` is answered with its status code in the hosted error envelope; a service converts
the others to one, and a run ends with them. A wrong state is a 400, because the SDK retries 409.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeVar

T = TypeVar("T")


class AgentRftError(Exception):
    """Root of every error this project raises on purpose."""


class RequestError(AgentRftError):
    """A request that cannot be served as sent, as in the hosted API's error object."""

    status_code: ClassVar[int] = 400
    type: ClassVar[str] = "invalid_request_error"
    default_code: ClassVar[str | None] = None

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message, self.param = message, param
        self.code = code if code is not None else self.default_code


class InvalidRequest(RequestError):
    pass


def missing_parameter(param: str) -> InvalidRequest:
    message = f"Missing required parameter: '{param}'."
    return InvalidRequest(message, param=param, code="missing_required_parameter")


def refused_value(param: str, reason: str) -> InvalidRequest:
    """Returns the error for a value; `reason` is a clause without a full stop."""
    message = f"Invalid value for '{param}': {reason}."
    return InvalidRequest(message, param=param, code="invalid_value")


class WrongState(InvalidRequest):
    default_code = "invalid_state"


class AuthenticationFailed(RequestError):
    status_code = 401
    default_code = "invalid_api_key"


class PermissionDenied(RequestError):
    status_code = 403
    default_code = "permission_denied"


class NotFound(RequestError):
    status_code = 404
    default_code = "not_found"


class TooSlow(RequestError):
    status_code = 408
    default_code = "request_timeout"


class TooLarge(RequestError):
    status_code = 413
    default_code = "request_too_large"


class RangeNotSatisfiable(RequestError):
    status_code = 416
    default_code = "range_not_satisfiable"

    def __init__(self, size: int) -> None:
        super().__init__(f"The content has {size} bytes.", param="range")
        self.size = size


class IdempotencyKeyInUse(RequestError):
    """The first request under the key is in progress; a retry gets its response."""

    status_code = 409
    default_code = "idempotency_key_in_use"


class IdempotencyKeyReused(RequestError):
    status_code = 422
    default_code = "idempotency_key_reused"


class RateLimited(RequestError):
    status_code = 429
    type = "requests"
    default_code = "rate_limit_exceeded"

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class QuotaExceeded(RequestError):
    """The project has used up a quota: the same request fails again until something is freed."""

    status_code = 429
    type = "insufficient_quota"
    default_code = "insufficient_quota"


class Unavailable(RequestError):
    """A part of the service is temporarily unavailable: answered with `Retry-After`."""

    status_code = 503
    type = "server_error"
    default_code = "service_unavailable"


class NoFreeSpace(Unavailable):
    """A disk has less free space than the minimum; only an operator can help."""

    default_code = "insufficient_storage"


class EndpointRefused(AgentRftError):
    """A customer URL that must not be dialled; the text is safe to show to the customer."""


class SecretsLost(AgentRftError):
    """Required sealed values can no longer be read; a retry does not help."""


class LeaseLost(AgentRftError):
    """Another claim has a higher fence: no further write of this run may be stored."""


# Codes of runs, and flags of grades without a score.
SECRETS_LOST: Final = "secrets_lost"
NOTHING_TO_LEARN: Final = "nothing_to_learn"
OUT_OF_MEMORY: Final = "out_of_memory"
"""The model or the shortest micro-batch does not fit into the trainer's memory."""
ENDPOINT_UNAVAILABLE: Final = "endpoint_unavailable"
"""Tools or graders do not answer."""
JUDGE_WITHOUT_SCORE: Final = "judge_without_score"
"""The judge answers, mostly without a score."""
PYTHON_ERROR: Final = "python_grader_runtime_error"
FORMULA_ERROR: Final = "formula_parse_error"
SANDBOX_ERROR: Final = "python_grader_server_error"
"""Flag: the sandbox did not run the code."""
SANDBOX_UNAVAILABLE: Final = "sandbox_unavailable"
MODEL_ERROR: Final = "model_grader_server_error"
"""Flag: the grader's model did not answer."""
MODEL_UNAVAILABLE: Final = "grader_model_unavailable"
"""The judge, or the embedding model, does not answer."""
UNREADABLE_ROW: Final = "unreadable_row"
"""A grader cannot read the value of a row, or of too many of a run."""
INVALID_SCORE: Final = "invalid_score"
"""Scores of a grader cannot be trained on."""


class RunFailed(AgentRftError):
    """Ends a run as `failed`; `code` and `message` become the job's `error` object."""

    def __init__(self, message: str, *, code: str, param: str | None = None) -> None:
        super().__init__(message)
        self.message, self.code, self.param = message, code, param


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Runs them side by side; returns the results in order. Raises the first fault alone."""
    with first_fault():
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(work) for work in works]
    return [task.result() for task in running]


@contextmanager
def first_fault() -> Iterator[None]:
    try:
        yield
    except BaseExceptionGroup as faults:
        raise faults.exceptions[0] from faults


IssueSeverity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class PreflightIssue:
    """An error means that the job would be refused or fail; a warning that it would run badly."""

    severity: IssueSeverity
    code: str
    message: str
    param: str | None = None
    line: int | None = None
    """Line of the file, from 1."""
    pointer: str | None = None
    """JSON pointer (RFC 6901) into that line."""


def moved_fault(fault: InvalidRequest, root: str, new: str) -> InvalidRequest:
    param = fault.param
    if param is not None and (param == root or param.startswith((f"{root}.", f"{root}["))):
        param = new + param.removeprefix(root)
    return InvalidRequest(
        fault.message.replace(f"'{root}", f"'{new}"), param=param, code=fault.code
    )


CONSTANT_GRADER: Final = "constant_grader"
UNUSED_OPTION: Final = "unused_option"


@dataclass(frozen=True, slots=True)
class NoEffect:
    code: str
    param: str
    message: str


def unused_option(param: str, why: str) -> NoEffect:
    return NoEffect(UNUSED_OPTION, param, f"'{param}' changes nothing: {why}")
