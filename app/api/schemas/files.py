"""Files on the wire. Source: the hosted API's `OpenAIFile`."""

from typing import Literal

from pydantic import BaseModel

from app.domain.data.files import FileRow

MIN_EXPIRY_S, MAX_EXPIRY_S = 3600, 2_592_000


class FileObject(BaseModel):
    id: str
    object: Literal["file"] = "file"
    bytes: int
    created_at: int
    filename: str
    purpose: str
    status: str
    expires_at: int | None
    status_details: str | None

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
