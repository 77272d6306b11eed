"""Examples of the main calls, for the specification.

Owns `examples.json`: by operation one request, where it has a JSON body, and one reply. Together
they follow one job that succeeds. Promises that they fit their schemas. Must not know routes.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_FILE: Final = Path(__file__).with_name("examples.json")


@dataclass(frozen=True, slots=True)
class OperationExample:
    reply: dict[str, Any]
    request: dict[str, Any] | None = None


def examples() -> dict[str, OperationExample]:
    """Returns the examples by operation id."""
    return {
        operation: OperationExample(**parts)
        for operation, parts in json.loads(_FILE.read_text(encoding="utf-8")).items()
    }
