"""An uploaded file: its client's description, and its row."""

from dataclasses import dataclass
from typing import Final

from app.domain.errors import WrongState

MAX_FILE_BYTES: Final = 512 * 1024 * 1024
"""Largest file of one request; a larger one is uploaded in parts."""
IN_PARTS: Final = "Upload a larger file in parts: POST /v1/uploads."
PURPOSES = ("assistants", "batch", "fine-tune", "vision", "user_data", "evals")
"""Purposes that a client may upload a file for. Source: the hosted API."""
LISTED_PURPOSES = (*PURPOSES, "fine-tune-results", "assistants_output", "batch_output")
"""Purposes of files in a list, results among them. Source: the hosted API."""


NOT_READY = "uploaded"
"""The status of a file that no new job may read: rows are being removed from it."""


def not_ready(file_id: str, param: str) -> WrongState:
    """Returns the refusal of a job with a file that is not ready."""
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
    """Unix seconds, like every time on the wire."""
    expires_at: int | None


@dataclass(frozen=True, slots=True)
class NewFile:
    """Description of a file by its client."""

    filename: str
    purpose: str
    expires_after_s: int | None
