"""A call that builds files from feedback. Pure data."""

from dataclasses import dataclass

from app.domain.feedback.rows import BuildOptions


@dataclass(frozen=True, slots=True)
class BuildRequest:
    options: BuildOptions
    validation_share: float
    created_after: int | None
    """Unix seconds; only later feedback is read."""
    name: str | None
    """Name of a new curriculum."""
    curriculum_id: str | None
    """Id of the curriculum that gets a new version."""
