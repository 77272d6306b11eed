"""The row of a file that is uploaded in parts."""

from dataclasses import dataclass
from typing import Final, Literal

UploadStatus = Literal["pending", "completed", "cancelled", "expired"]

UPLOAD_LIFETIME_S: Final = 3600
MAX_UPLOAD_BYTES: Final = 8 * 1024**3
MAX_PART_BYTES: Final = 64 * 1024**2
MAX_PARTS: Final = 10_000
"""Limit of this project for uploads in small parts."""


def upload_directory(project_id: str, upload_id: str) -> str:
    return f"projects/{project_id}/uploads/{upload_id}"


@dataclass(frozen=True, slots=True)
class UploadRow:
    id: str
    project_id: str
    filename: str
    purpose: str
    mime_type: str
    bytes: int
    """Size announced by the client; completing needs exactly as many bytes."""
    status: UploadStatus
    """Current status: a pending upload past its expiry is `expired`."""
    created_at: int
    expires_at: int
    file_expires_after_s: int | None
    file_id: str | None
    part_ids: tuple[str, ...]
    """Parts that the upload was completed with, in order."""

    @property
    def directory(self) -> str:
        """Object key prefix of the parts until the upload ends."""
        return upload_directory(self.project_id, self.id)


@dataclass(frozen=True, slots=True)
class UploadPartRow:
    id: str
    upload_id: str
    bytes: int
    created_at: int
