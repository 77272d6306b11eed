"""Files on the wire. Source: the hosted API's `OpenAIFile`."""

from typing import Literal

from app.domain.data.files import FileRow
from app.domain.documents.described import DescribedModel

MIN_EXPIRY_S, MAX_EXPIRY_S = 3600, 2_592_000


class FileObject(DescribedModel):
    """A stored file, without its bytes."""

    id: str
    object: Literal["file"] = "file"
    bytes: int
    """Size in bytes."""
    created_at: int
    filename: str
    """Name that the client sent."""
    purpose: str
    """`fine-tune` for the rows of a job; a job's results have `fine-tune-results`."""
    status: str
    """`processed`: the file can be used at once. Rows are checked when a job is made."""
    expires_at: int | None
    status_details: str | None
    """Always `null`."""

    @classmethod
    def of(cls, row: FileRow) -> "FileObject":
        return cls(
            id=row.id,
            bytes=row.bytes,
            created_at=row.created_at,
            filename=row.filename,
            purpose=row.purpose,
            status=row.status,
            expires_at=row.expires_at,
            status_details=row.status_details,
        )
