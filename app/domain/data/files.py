"""An uploaded file: its client's description, and its row."""

from dataclasses import dataclass
from typing import Final

MAX_FILE_BYTES: Final = 512 * 1024 * 1024
"""Largest file of one request; a larger one is uploaded in parts."""
IN_PARTS: Final = "Upload a larger file in parts: POST /v1/uploads."
PURPOSES = ("assistants", "batch", "fine-tune", "vision", "user_data", "evals")
"""Purposes that a client may upload a file for. Source: the hosted API."""
LISTED_PURPOSES = (*PURPOSES, "fine-tune-results", "assistants_output", "batch_output")
"""Purposes of files in a list, results among them. Source: the hosted API."""


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
