"""Makes a folder of a user's whose files have the names of modules, and end a program that imports
one.
"""

import sys
from pathlib import Path
from typing import Final

FOREIGN: Final = "a file of the folder ran"


def foreign_folder(parent: Path) -> Path:
    """Returns a folder with a file for each module of the standard library."""
    folder = parent / "folder"
    folder.mkdir()
    for name in sys.stdlib_module_names:
        (folder / f"{name}.py").write_text(f"raise SystemExit({FOREIGN!r})")
    return folder
