"""Files read in a process of their own: the API's event loop stays free and a hang ends.

Must not know what is read. What is called and what it gives must be picklable.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from anyio import BrokenWorkerProcess, CapacityLimiter, fail_after, to_process

from app.domain.errors import InvalidRequest, Unavailable

Report = TypeVar("Report")
_TIMEOUT_S: Final = 120.0


async def inspected(
    limiter: CapacityLimiter, read: Callable[..., Report], *arguments: object
) -> Report:
    """What `read` returns. The process ends with the caller's cancellation.

    Raises `Unavailable` for one that is too slow or dies, `InvalidRequest` for a file that is gone.
    """
    try:
        with fail_after(_TIMEOUT_S):
            return await to_process.run_sync(read, *arguments, cancellable=True, limiter=limiter)
    except TimeoutError as error:
        raise Unavailable("The files took too long to read; try again later.") from error
    except BrokenWorkerProcess as error:
        raise Unavailable("The files could not be read; try again later.") from error
    except OSError as error:
        raise InvalidRequest("The content of a file is gone.", param="training_file") from error
