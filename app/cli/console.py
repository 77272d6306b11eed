"""What every verb does at a terminal: logs to standard error, errors in a line each.

Promises: standard output stays free for results.
"""

import sys

import structlog
from pydantic import ValidationError


def log_to_stderr() -> None:
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ],
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
    )


def describe(wrong: ValidationError) -> str:
    """Each wrong setting by the name of its variable."""
    lines = [
        f"AGENT_RFT_{'__'.join(str(part) for part in item['loc']).upper()}: {item['msg']}"
        for item in wrong.errors(include_url=False, include_input=False)
        if item["type"] != "default_factory_not_called"  # follows from another line
    ]
    return "\n".join(lines)
