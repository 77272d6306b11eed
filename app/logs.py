"""Configures log lines on standard error, for every process of both planes.

Promises: a traceback contains code, never the values of local variables. structlog's default prints
them if `rich` is installed, API keys, customer headers and rows included, and rendering one such
traceback blocked the event loop for 3 to 11 seconds (measured).
"""

import sys

import structlog


def log_to_stderr() -> None:
    """Configures the logs of this process. Safe to repeat."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            ),
        ],
        logger_factory=_current_stderr_logger,
    )


def _current_stderr_logger(*_: object) -> structlog.PrintLogger:
    return structlog.PrintLogger(sys.stderr)
