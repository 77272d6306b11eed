"""Describes the machine of a measurement."""

import os
import platform
from pathlib import Path


def machine() -> str:
    """Returns processor, cores and what else runs at the moment."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = names[0] if names else platform.processor() or platform.machine()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{model}, {cores} cores, load {os.getloadavg()[0]:.1f}"
