"""Reads stored files in a separate process, so that the API's event loop stays free and a hung read
can be ended.

Must not know the content of files. The function and its result must be picklable.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final, TypeVar

from anyio import BrokenWorkerProcess, CapacityLimiter, fail_after, to_process

from app.domain.accounts.tenants import Tenant
from app.domain.errors import InvalidRequest, Unavailable
from app.gateways.objects import Objects, local_copy, work_directory
from app.services.files.bounded_memory import MAX_ADDED_BYTES, with_bounded_memory
from app.slots.shared_slots import SharedSlots

Report = TypeVar("Report")
_TIMEOUT_S: Final = 120.0
_AT_ONCE: Final = 3


class Inspections:
    """Limits concurrent reads: one for each project, and a small total, so that reading uses few
    cores and one organization leaves a slot for others. All tenants of a process share one.
    """

    def __init__(
        self,
        objects: Objects,
        work_dir: Path,
        *,
        at_once: int = _AT_ONCE,
        max_added_bytes: int = MAX_ADDED_BYTES,
    ) -> None:
        self._objects, self._work_dir = objects, work_dir
        self._max_added_bytes = max_added_bytes
        self.slots = SharedSlots(at_once, of_organization=max(1, at_once - 1))
        self._processes = CapacityLimiter(at_once)
        """Pool with as many processes as slots, so that no caller with a slot waits for a process.
        """

    @asynccontextmanager
    async def copy(self, key: str, *, gone: InvalidRequest | None = None) -> AsyncIterator[Path]:
        """Yields a local file with an object's bytes, for `run`. Raises `gone`, which by default
        names no parameter but the training file, if there is no such object.
        """
        async with AsyncExitStack() as stack:
            try:
                copy = local_copy(self._objects, key, self._work_dir)
                path = await stack.enter_async_context(copy)
            except FileNotFoundError as error:
                raise gone or content_gone() from error
            yield path

    @asynccontextmanager
    async def workspace(self) -> AsyncIterator[Path]:
        """Yields an empty directory for files that `run` reads or writes, removed at the end."""
        async with work_directory(self._work_dir) as directory:
            yield directory

    @asynccontextmanager
    async def copies(self, keys: Iterable[str | None]) -> AsyncIterator[list[Path | None]]:
        """Yields local files as `copy` does, `None` for each `None`. Raises `InvalidRequest`."""
        async with AsyncExitStack() as stack:
            yield [
                None if key is None else await stack.enter_async_context(self.copy(key))
                for key in keys
            ]

    async def run(self, tenant: Tenant, read: Callable[..., Report], *arguments: object) -> Report:
        """Returns the result of `read`. The process ends when the caller is cancelled.

        Raises `Unavailable` if the process is too slow or crashes, `InvalidRequest` for a missing
        file and for one that needs too much memory.
        """
        with _as_answers(), fail_after(_TIMEOUT_S):
            async with self.slots.taken(tenant.organization_id, tenant.project_id):
                return await to_process.run_sync(
                    with_bounded_memory,
                    self._max_added_bytes,
                    read,
                    *arguments,
                    cancellable=True,
                    limiter=self._processes,
                )


@contextmanager
def _as_answers() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise Unavailable("The files took too long to read; try again later.") from error
    except BrokenWorkerProcess as error:
        raise Unavailable("The files could not be read; try again later.") from error
    except MemoryError as error:
        raise InvalidRequest("A file needs too much memory to be read.") from error
    except OSError as error:
        raise content_gone() from error


def content_gone() -> InvalidRequest:
    message = "The content of a file is gone: upload the file again."
    return InvalidRequest(message, param="training_file")
