"""An uploaded file as the service knows it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileRow:
    id: str
    project_id: str
    filename: str
    """The client's name for it; never a path of ours."""
    purpose: str
    bytes: int
    sha256: str
    object_key: str
    status: str
    status_details: str | None
    created_at: int
    """Unix seconds, like every time on the wire."""
    expires_at: int | None
