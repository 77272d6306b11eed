"""What a mode carries over from one step to the next, as a part of the committed step: a directory
of its own beside the trainer's state, with a manifest. A mode that carries nothing has none.
"""

import json
from pathlib import Path
from typing import Any, Final

from workers.learning.committed import commit_directory, verify_directory

DIRECTORY: Final = "scheduler"
_FILE: Final = "scheduler.json"


def save_scheduler_state(step_directory: Path, state: dict[str, Any] | None) -> None:
    if state is None:
        return
    with commit_directory(step_directory / DIRECTORY) as partial:
        (partial / _FILE).write_text(json.dumps(state) + "\n", encoding="utf-8")


def load_scheduler_state(step_directory: Path) -> dict[str, Any] | None:
    """Raises `ManifestMismatch` when it is not what was committed."""
    directory = step_directory / DIRECTORY
    if not directory.is_dir():
        return None
    verify_directory(directory)
    state: dict[str, Any] = json.loads((directory / _FILE).read_text(encoding="utf-8"))
    return state
