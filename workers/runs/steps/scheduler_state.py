"""The state that a scheduler passes from one step to the next, a part of the committed step: a
directory beside the trainer's state. A scheduler without state has no directory.
"""

import json
from pathlib import Path
from typing import Any, Final

from app.disk.committed import commit_directory, verify_directory

_FILE: Final = "scheduler.json"


def save_scheduler_state(directory: Path, state: dict[str, Any]) -> None:
    with commit_directory(directory) as partial:
        (partial / _FILE).write_text(json.dumps(state) + "\n", encoding="utf-8")


def load_scheduler_state(directory: Path) -> dict[str, Any]:
    """Loads the state of a step. Raises `ManifestMismatch` if it differs from the committed one."""
    verify_directory(directory)
    state: dict[str, Any] = json.loads((directory / _FILE).read_text(encoding="utf-8"))
    return state
