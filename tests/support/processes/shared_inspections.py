"""Reads files in one process for all tests.

The processes of `app.files.row_files` belong to an event loop, and each test has a loop
of its own: each would start a process that imports the application again, for two seconds of
processor time. Tests of how such a process ends use the product's own.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from multiprocessing import get_context, parent_process
from typing import TypeVar
from unittest.mock import patch

from anyio import CapacityLimiter, to_process

Report = TypeVar("Report")


def _end_with_the_tests() -> None:
    """Ends this process when its parent is gone, also one that was killed."""
    parent = parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@cache
def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_end_with_the_tests)


async def _run_sync(
    read: Callable[..., Report],
    *arguments: object,
    cancellable: bool,  # noqa: ARG001 - of the call that this replaces
    limiter: CapacityLimiter,
) -> Report:
    async with limiter:
        return await asyncio.get_running_loop().run_in_executor(_process(), read, *arguments)


@contextmanager
def shared_inspections() -> Iterator[None]:
    with patch.object(to_process, "run_sync", _run_sync):
        yield
