"""Reads how much memory a new program can use on this machine, or in this container."""

import os
from pathlib import Path
from typing import Final

_MEMINFO: Final = Path("/proc/meminfo")
_CGROUP: Final = Path("/sys/fs/cgroup")


def free_memory(*, meminfo: Path = _MEMINFO, cgroup: Path = _CGROUP) -> int:
    """Returns the bytes that the kernel reports as available, limited by what remains of a
    container's limit. Elsewhere than on Linux it is half of the machine's memory.
    """
    if not meminfo.exists():
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    available = next(
        int(line.split()[1]) * 1024
        for line in meminfo.read_text().splitlines()
        if line.startswith("MemAvailable:")
    )
    return min(available, _rest_of_limit(cgroup, available))


def _rest_of_limit(cgroup: Path, default: int) -> int:
    try:
        limit = int((cgroup / "memory.max").read_text())
        used = int((cgroup / "memory.current").read_text())
        cached = next(
            int(line.split()[1])
            for line in (cgroup / "memory.stat").read_text().splitlines()
            if line.startswith("inactive_file ")
        )
    except (OSError, ValueError, StopIteration):  # no container, or one without a limit
        return default
    return limit - used + cached
