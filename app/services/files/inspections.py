"""Files read in a process of their own: the API's event loop stays free and a hang ends.

Must not know what is read. The function and its result must be picklable.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from anyio import BrokenWorkerProcess, CapacityLimiter, fail_after, to_process

from app.domain.accounts.tenants import Tenant
from app.domain.errors import InvalidRequest, Unavailable
from app.slots.shared_slots import SharedSlots

Report = TypeVar("Report")
_TIMEOUT_S: Final = 120.0
_AT_ONCE: Final = 3


class Inspections:
    """A few at once in all, and one of each project: so many cores at most are spent on reading,
    and the files of one organization leave a slot to another's.
    """

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        self.slots = SharedSlots(at_once, of_organization=max(1, at_once - 1))
        self._processes = CapacityLimiter(at_once)
        """As many as slots, so that it admits each caller that holds one."""

    async def run(self, tenant: Tenant, read: Callable[..., Report], *arguments: object) -> Report:
        """Returns the result of `read`. The process ends when the caller is cancelled.

        Raises `Unavailable` for one that is too slow or dies, `InvalidRequest` for a file that is
        gone.
        """
        with _as_answers(), fail_after(_TIMEOUT_S):
            async with self.slots.taken(tenant.organization_id, tenant.project_id):
                return await to_process.run_sync(
                    read, *arguments, cancellable=True, limiter=self._processes
                )


@contextmanager
def _as_answers() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise Unavailable("The files took too long to read; try again later.") from error
    except BrokenWorkerProcess as error:
        raise Unavailable("The files could not be read; try again later.") from error
    except OSError as error:
        raise content_gone() from error


def content_gone() -> InvalidRequest:
    message = "The content of a file is gone: upload the file again."
    return InvalidRequest(message, param="training_file")
