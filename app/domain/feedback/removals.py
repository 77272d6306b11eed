"""The result of removing an end user's data, and the digest that is left of a person. Pure."""

import hashlib
from dataclasses import dataclass, field


@dataclass(slots=True)
class Removal:
    """Counts and ids of the removed data, and the jobs that have trained on them."""

    completions: int = 0
    feedback: int = 0
    rows: int = 0
    """Rows of files."""
    files: list[str] = field(default_factory=list)
    """Ids of the files that were deleted; files without the rows replace them."""
    curricula: list[str] = field(default_factory=list)
    """Ids of the curricula that got a new version, or were deleted because no row is left."""
    jobs: list[str] = field(default_factory=list)
    """Ids of jobs that read the files: their models have learned from the rows."""


def person_digest(project_id: str, person: str) -> str:
    """Returns what a build keeps of a person whose rows a deleted file had."""
    return hashlib.sha256(f"{project_id}\0{person}".encode()).hexdigest()
