"""An uploaded file: its client's description, and its row."""

from dataclasses import dataclass
from typing import Final, Literal

from app.kit.errors import InvalidRequest, WrongState

MAX_FILE_BYTES: Final = 512 * 1024 * 1024
"""Largest file of one request; a larger one is uploaded in parts."""
IN_PARTS: Final = "Upload a larger file in parts: POST /v1/uploads."
PURPOSES = ("assistants", "batch", "fine-tune", "vision", "user_data", "evals")
"""Purposes that a client may upload a file for. Source: the hosted API."""
LISTED_PURPOSES = (*PURPOSES, "fine-tune-results", "assistants_output", "batch_output")
"""Purposes of files in a list, results among them. Source: the hosted API."""


NOT_READY = "uploaded"
"""The status of a file that no new job may read: rows are being removed from it."""


TRAINING: Final = "fine-tune"


def wrong_purpose(file_id: str, purpose: str, param: str) -> InvalidRequest:
    message = f"{param} {file_id} has purpose '{purpose}', but must have '{TRAINING}'."
    return InvalidRequest(message, param=param, code="invalid_value")


def not_ready(file_id: str, param: str) -> WrongState:
    return WrongState(
        f"{param} {file_id} has rows of an end user whose data is being removed. Use the file that "
        "replaces it: the newest version of its curriculum names it.",
        param=param,
        code="file_in_use",
    )


@dataclass(frozen=True, slots=True)
class FileRow:
    id: str
    project_id: str
    filename: str
    """Name that the client sent; never used as a path."""
    purpose: str
    bytes: int
    sha256: str
    object_key: str
    status: str
    status_details: str | None
    created_at: int
    expires_at: int | None


@dataclass(frozen=True, slots=True)
class NewFile:
    filename: str
    purpose: str
    expires_after_s: int | None


UploadStatus = Literal["pending", "completed", "cancelled", "expired"]

UPLOAD_LIFETIME_S: Final = 3600
MAX_UPLOAD_BYTES: Final = 8 * 1024**3
MAX_PART_BYTES: Final = 64 * 1024**2
MAX_PARTS: Final = 10_000


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
    created_at: int
    expires_at: int
    file_expires_after_s: int | None
    file_id: str | None
    part_ids: tuple[str, ...]

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
