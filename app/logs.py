"""Log lines on standard error, for every process of both planes.

Promises: a traceback shows code, never the values of local variables. structlog's own default draws
them as soon as `rich` is installed: API keys, customer headers and rows among them, and drawing one
took 3 to 11 seconds of the event loop (measured).
"""

import sys

import structlog


def log_to_stderr() -> None:
    """Configure this process. Saying it twice is fine."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            ),
        ],
        logger_factory=_stderr_of_now,
    )


def _stderr_of_now(*_: object) -> structlog.PrintLogger:
    return structlog.PrintLogger(sys.stderr)
