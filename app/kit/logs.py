"""Configures log lines on standard error, for every process of both planes.

A traceback has no values of local variables, which structlog prints if `rich` is installed, keys
and rows included: one blocked the event loop for 3 to 11 seconds (measured). An access log has no
query strings, in which a client may have put a key by mistake.
"""

import logging
import sys
from contextlib import suppress

import structlog
from typing_extensions import override


class _WithoutQuery(logging.Filter):
    """Cuts the query from the path, the third argument of uvicorn's access lines."""

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        match record.args:
            case (client, method, str() as path, *others):
                record.args = (client, method, path.partition("?")[0], *others)
            case _:
                pass
        return True


def hide_queries() -> None:
    access = logging.getLogger("uvicorn.access")
    if not any(isinstance(known, _WithoutQuery) for known in access.filters):
        access.addFilter(_WithoutQuery())


def log_to_stderr() -> None:
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            ),
        ],
        logger_factory=lambda *_: _Lines(sys.stderr),
    )


class _Lines(structlog.PrintLogger):
    """Drops lines for which the disk has no room: better than a crash."""

    @override
    def msg(self, message: str) -> None:
        with suppress(OSError):
            super().msg(message)

    log = debug = info = warn = warning = msg
    fatal = failure = err = error = critical = exception = msg
