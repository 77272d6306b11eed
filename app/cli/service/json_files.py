"""JSON bodies of calls, from a file or standard input."""

import sys
from pathlib import Path
from typing import Any

from app.cli.terminal.service_errors import ServiceError
from app.domain.processes.exit_codes import WRONG_OPTIONS
from app.domain.texts.strict_json import strict_loads


def read_body(path: Path) -> dict[str, Any]:
    """Returns the JSON object of a file, or of standard input for `-`. Raises `ServiceError`."""
    name = "standard input" if path == Path("-") else str(path)
    try:
        content = sys.stdin.buffer.read() if path == Path("-") else path.read_bytes()
        body = strict_loads(content.decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ServiceError(f"{name}: {reason}", exit_code=WRONG_OPTIONS) from error
    if not isinstance(body, dict):
        raise ServiceError(f"{name}: must contain a JSON object", exit_code=WRONG_OPTIONS)
    return body
