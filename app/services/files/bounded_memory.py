"""Runs a function with a limit of memory, in a process of its own.

A small file can claim a large content, whatever is checked before it is decoded.
"""

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

Result = TypeVar("Result")
MAX_ADDED_BYTES: Final = 1 << 30
"""Memory beyond that at the start of a read: four times the content of the largest Parquet file."""
_ARROW_ALLOCATOR: Final = "ARROW_DEFAULT_MEMORY_POOL"
_STATUS: Final = Path("/proc/self/status")


def with_bounded_memory(
    max_added_bytes: int, read: Callable[..., Result], *arguments: object
) -> Result:
    """Raises a plain `MemoryError`: the type of a library may not be picklable."""
    # Arrow's own allocator takes 1 GiB at its first use: all that a read may have.
    os.environ.setdefault(_ARROW_ALLOCATOR, "system")
    try:
        with _limit(max_added_bytes):
            return read(*arguments)
    except MemoryError:
        pass
    raise MemoryError


@contextmanager
def _limit(added: int) -> Iterator[None]:
    """Limits what the process can write to: address space also counts reservations, for example
    those of threads.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = _data_bytes() + added
    resource.setrlimit(resource.RLIMIT_DATA, (_lower(_lower(most, soft), hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _lower(one: int, other: int) -> int:
    return one if other == resource.RLIM_INFINITY else min(one, other)


def _data_bytes() -> int:
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0
