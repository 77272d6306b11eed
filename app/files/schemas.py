"""Files on the wire. Source: the hosted API's `OpenAIFile`."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from app.files.files import (
    MAX_PARTS,
    MAX_UPLOAD_BYTES,
    FileRow,
    UploadPartRow,
    UploadRow,
    UploadStatus,
)
from app.kit.fields import DescribedModel
from app.kit.schemas import ClosedBody
from app.kit.texts import MD5

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
        return cls.read(row)


Name = Annotated[str, StringConstraints(min_length=1, max_length=255)]


class ExpiresAfter(ClosedBody):
    """The time after which a file is deleted."""

    anchor: Literal["created_at"]
    """The time from which the seconds count."""
    seconds: Annotated[int, Field(ge=MIN_EXPIRY_S, le=MAX_EXPIRY_S, strict=True)]
    """Seconds until the file is deleted."""


class CreateUpload(ClosedBody):
    """A new upload: the file that its parts will make."""

    filename: Name
    """Name of the file."""
    purpose: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    """Purpose of the file, such as `fine-tune`."""
    bytes: Annotated[int, Field(ge=1, le=MAX_UPLOAD_BYTES, strict=True)]
    """Size of the whole file."""
    mime_type: Name
    """Media type of the file."""
    expires_after: ExpiresAfter | None = None
    """Time at which the service deletes the file; absent: it does not."""


class CompleteUpload(ClosedBody):
    """The order of the parts of an upload."""

    part_ids: Annotated[list[Name], Field(min_length=1, max_length=MAX_PARTS)]
    """Ids of the parts, in the order of the file."""
    md5: Annotated[str, StringConstraints(pattern=MD5)] | None = None
    """MD5 of the whole file, which is compared."""


class UploadObject(DescribedModel):
    """An upload: a file that arrives in parts."""

    id: str
    object: Literal["upload"] = "upload"
    bytes: int
    """Size of the whole file."""
    created_at: int
    expires_at: int
    """Unix seconds at which an incomplete upload is given up."""
    filename: str
    """Name of the file."""
    purpose: str
    """Purpose of the file."""
    status: UploadStatus
    """State of the upload."""
    file: FileObject | None
    """The file, once the upload is complete."""

    @classmethod
    def of(cls, row: UploadRow, file: FileRow | None = None) -> "UploadObject":
        return cls.read(row, file=None if file is None else FileObject.of(file))


class UploadPart(DescribedModel):
    """A part of an upload."""

    id: str
    object: Literal["upload.part"] = "upload.part"
    created_at: int
    upload_id: str
    """Id of the upload."""

    @classmethod
    def of(cls, row: UploadPartRow) -> "UploadPart":
        return cls.read(row)
