"""Uploads in parts on the wire. Source: the hosted API's `Upload` and `UploadPart`."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from app.api.schemas.common import WireModel
from app.api.schemas.files import MAX_EXPIRY_S, MIN_EXPIRY_S, FileObject
from app.domain.data.files import FileRow
from app.domain.data.uploads import (
    MAX_PARTS,
    MAX_UPLOAD_BYTES,
    UploadPartRow,
    UploadRow,
    UploadStatus,
)

Name = Annotated[str, StringConstraints(min_length=1, max_length=255)]


class ExpiresAfter(WireModel):
    anchor: Literal["created_at"]
    seconds: Annotated[int, Field(ge=MIN_EXPIRY_S, le=MAX_EXPIRY_S, strict=True)]


class CreateUpload(WireModel):
    """Body of `POST /v1/uploads`."""

    filename: Name
    purpose: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    bytes: Annotated[int, Field(ge=1, le=MAX_UPLOAD_BYTES, strict=True)]
    mime_type: Name
    expires_after: ExpiresAfter | None = None


class CompleteUpload(WireModel):
    """Body of `POST /v1/uploads/{upload_id}/complete`."""

    part_ids: Annotated[list[Name], Field(min_length=1, max_length=MAX_PARTS)]
    md5: Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{32}$")] | None = None


class UploadObject(BaseModel):
    id: str
    object: Literal["upload"] = "upload"
    bytes: int
    created_at: int
    expires_at: int
    filename: str
    purpose: str
    status: UploadStatus
    file: FileObject | None

    @classmethod
    def of(cls, row: UploadRow, file: FileRow | None = None) -> "UploadObject":
        return cls(
            id=row.id,
            bytes=row.bytes,
            created_at=row.created_at,
            expires_at=row.expires_at,
            filename=row.filename,
            purpose=row.purpose,
            status=row.status,
            file=None if file is None else FileObject.of(file),
        )


class UploadPart(BaseModel):
    id: str
    object: Literal["upload.part"] = "upload.part"
    created_at: int
    upload_id: str

    @classmethod
    def of(cls, row: UploadPartRow) -> "UploadPart":
        return cls(id=row.id, created_at=row.created_at, upload_id=row.upload_id)
