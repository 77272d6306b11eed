"""Reads and writes the measured ways to compute, one file for each role, machine and shape.

Promises that a file is replaced as a whole, and that one that cannot be read counts as absent.
"""

import os
from pathlib import Path

from app.domain.models.compute_choices import MeasuredChoice


def measured_choice(file: Path) -> MeasuredChoice | None:
    try:
        return MeasuredChoice.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # not there, not UTF-8, or not valid
        return None


def measured_choices(directory: Path) -> list[MeasuredChoice]:
    """Returns all that can be read, in order of their files."""
    found = (measured_choice(file) for file in sorted(directory.glob("*.json")))
    return [kept for kept in found if kept is not None]


def write_choice(file: Path, kept: MeasuredChoice) -> None:
    """Raises `OSError` if the file cannot be written."""
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch = file.with_suffix(f".{os.getpid()}")
    scratch.write_text(kept.model_dump_json(indent=1) + "\n", encoding="utf-8")
    scratch.replace(file)
