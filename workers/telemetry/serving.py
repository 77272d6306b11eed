"""Starts the process that shows a worker's figures, and makes the worker's processes write them.

Must be called before the worker forks, and before it imports a module that has figures: a figure
is created in memory or in a file, and stays there.
"""

import os
import subprocess
import tempfile
from typing import Final

from app.domain.processes.interpreters import running_module
from app.settings.settings import Settings

DIRECTORY: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Variable of prometheus_client: the directory into which processes write their figures."""


def show_figures(settings: Settings) -> None:
    """Shows the figures of this process and all that it starts, if a port is configured."""
    if settings.telemetry.metrics_port is None:
        return
    os.environ[DIRECTORY] = tempfile.mkdtemp(prefix="agent-rft-figures-")
    subprocess.Popen(  # noqa: S603 - our own program, which ends with this process
        running_module("workers.telemetry", str(os.getpid())), stdin=subprocess.DEVNULL
    )
