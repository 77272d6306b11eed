"""The state that a scheduler carries over from one step to the next, as a part of the committed
step: a directory of its own beside the trainer's state. A scheduler that carries nothing has none.
"""

import json
from pathlib import Path
from typing import Any, Final

from workers.learning.committed import commit_directory, verify_directory

_FILE: Final = "scheduler.json"


def save_scheduler_state(directory: Path, state: dict[str, Any]) -> None:
    with commit_directory(directory) as partial:
        (partial / _FILE).write_text(json.dumps(state) + "\n", encoding="utf-8")


def load_scheduler_state(directory: Path) -> dict[str, Any]:
    """Raises `ManifestMismatch` when it is not what was committed."""
    verify_directory(directory)
    state: dict[str, Any] = json.loads((directory / _FILE).read_text(encoding="utf-8"))
    return state
