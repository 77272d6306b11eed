"""Serves a worker's metrics. Call it before they are imported: one is made in memory or a file."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from app.kit.processes import running_module
from app.settings import Settings

DIRECTORY: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Variable of prometheus_client: the directory into which processes write their metrics."""

_PREFIX: Final = "agent-rft-metrics-"


def remove_abandoned() -> None:
    """Of workers killed with all that they had started: nothing was left to remove them."""
    for directory in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        worker = directory.name.removeprefix(_PREFIX).split("-")[0]
        if worker.isdecimal() and _has_ended(int(worker)):
            shutil.rmtree(directory, ignore_errors=True)


def _has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):  # it belongs to another user, or is no pid
        return False
    return False


def serve_metrics(settings: Settings) -> None:
    """Serves the metrics of this process and all that it starts, if a port is configured."""
    if settings.telemetry.metrics_port is None:
        return
    if "prometheus_client" in sys.modules:
        raise RuntimeError("a module that has metrics was imported before their directory is known")
    remove_abandoned()
    os.environ[DIRECTORY] = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")
    subprocess.Popen(  # noqa: S603 - our own program, which ends with this process
        running_module("workers.telemetry", str(os.getpid())), stdin=subprocess.DEVNULL
    )
