"""Bounds the logs of running children.

Promises: a log never grows far beyond a limit, and a fixed number of older parts is kept beside it.
A child keeps its file open, so the log is copied and truncated, not renamed; children append, so
they continue at the new end. Lines written during the copy may be lost.
"""

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Final

import structlog

_log = structlog.get_logger()

LOG_BYTES: Final = 10_000_000
KEPT: Final = 3


def create(log: Path) -> None:
    """Creates the log for its owner only, unless it exists."""
    log.touch(mode=0o600)


def rotate_full_log(log: Path, *, limit_bytes: int = LOG_BYTES) -> None:
    """Moves the content of a log that has reached the limit to `.1`, that of `.1` to `.2`, and so
    on. On a full disk the content is dropped. Never raises.
    """
    try:
        if not log.exists() or log.stat().st_size < limit_bytes:
            return
        kept = [log.with_name(f"{log.name}.{number}") for number in range(1, KEPT + 1)]
        try:
            for newer, older in reversed(list(pairwise(kept))):
                if newer.exists():
                    newer.replace(older)
            create(kept[0])
            shutil.copyfile(log, kept[0])
        except OSError:
            kept[0].unlink(missing_ok=True)
        with log.open("r+b") as file:
            file.truncate(0)
    except OSError as failure:
        _log.warning("log_not_bounded", log=log.name, reason=failure.strerror)
