"""Routes of files."""

import json
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from app.files.files import LISTED_PURPOSES, PURPOSES, NewFile
from app.files.schemas import (
    MAX_EXPIRY_S,
    MIN_EXPIRY_S,
    CompleteUpload,
    CreateUpload,
    FileObject,
    UploadObject,
    UploadPart,
)
from app.http.bodies import StreamedForm, plain_name
from app.http.dependencies import After, Downloading, Services
from app.http.error_replies import responses
from app.http.idempotent_requests import idempotency_check
from app.kit.downloads import ClosingResponse
from app.kit.errors import InvalidRequest, missing_parameter
from app.kit.schemas import Deleted, Order, Page, object_page

router = APIRouter(prefix="/v1/files", tags=["Files"])


def _listed_purpose(sent: str) -> str:
    if sent not in LISTED_PURPOSES:
        listed = {"listed": ", ".join(LISTED_PURPOSES)}
        raise PydanticCustomError("purpose", "it must be one of {listed}", listed)
    return sent


FileLimit = Annotated[int, Query(ge=1, le=10_000)]
_MAX_PURPOSE = 64


def _form_body(required: list[str], properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "required": required, "properties": properties}
    return {
        "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}
    }


_UPLOAD_BODY: Final = _form_body(
    ["file", "purpose"],
    {
        "file": {"type": "string", "format": "binary", "description": "The file."},
        "purpose": {
            "type": "string",
            "enum": list(PURPOSES),
            "description": "`fine-tune` for the rows of a job.",
        },
        "expires_after[anchor]": {
            "type": "string",
            "enum": ["created_at"],
            "description": "The time from which the seconds count.",
        },
        "expires_after[seconds]": {
            "type": "integer",
            "minimum": MIN_EXPIRY_S,
            "maximum": MAX_EXPIRY_S,
            "description": "Seconds until the file is deleted; absent: never.",
        },
    },
)


_EXPIRY = ("expires_after[anchor]", "expires_after[seconds]")


@router.post("", operation_id="createFile", responses=responses(), openapi_extra=_UPLOAD_BODY)
async def create_file(request: Request, services: Services) -> FileObject:
    """Stores a file. Its rows are checked when a job with it is created."""
    form = StreamedForm(request, file="file")
    await form.open()

    def described() -> NewFile:
        form.refuse_unknown("purpose", "expires_after", *_EXPIRY)
        return NewFile(form.filename or "upload", _purpose(form), _expiry(form))

    purpose = _purpose(form) if "purpose" in form.fields else None
    row = await services.files().upload(
        form.blocks(),
        purpose=purpose,
        described=described,
        before_insert=idempotency_check(
            request, lambda: {**form.fields, "file": form.filename or ""}
        ),
    )
    return FileObject.of(row)


@router.get("", operation_id="listFiles", responses=responses())
async def list_files(
    services: Services,
    purpose: Annotated[str | None, Query(max_length=64), BeforeValidator(_listed_purpose)] = None,
    after: After = None,
    limit: FileLimit = 10_000,
    order: Order = "desc",
) -> Page[FileObject]:
    """Lists files."""
    rows, has_more = await services.files().page(
        purpose=purpose, after=after, limit=limit, order=order
    )
    return object_page([FileObject.of(row) for row in rows], has_more=has_more)


@router.get("/{file_id}", operation_id="retrieveFile", responses=responses(404))
async def get_file(file_id: str, services: Services) -> FileObject:
    """Returns a file's description, without its bytes."""
    return FileObject.of(await services.files().get(file_id))


@router.delete("/{file_id}", operation_id="deleteFile", responses=responses(404))
async def delete_file(file_id: str, services: Services) -> Deleted:
    """Deletes a file that no unfinished job reads."""
    await services.files().delete(file_id)
    return Deleted(id=file_id, object="file", deleted=True)


@router.get(
    "/{file_id}/content",
    operation_id="downloadFile",
    responses={
        **responses(404),
        200: {
            "description": "The file's bytes, as uploaded.",
            "content": {
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
            },
        },
    },
    response_class=StreamingResponse,
)
async def get_content(file_id: str, services: Downloading) -> StreamingResponse:
    """Returns the bytes of a file."""
    row, chunks = await services.files().content(file_id)
    headers = {
        "content-length": str(row.bytes),
        "content-disposition": f"attachment; filename*=UTF-8''{quote(row.filename, safe='')}",
        "x-content-type-options": "nosniff",
        # A range request gets the whole file: a list of ranges cannot cost more than one read.
        "accept-ranges": "none",
    }
    return ClosingResponse(chunks, media_type="application/octet-stream", headers=headers)


def _purpose(form: StreamedForm) -> str:
    value = form.fields.get("purpose", "")
    if not value:
        raise missing_parameter("purpose")
    return value[:_MAX_PURPOSE]


def _expiry(form: StreamedForm) -> int | None:
    anchor: Any = form.fields.get("expires_after[anchor]")
    seconds: Any = form.fields.get("expires_after[seconds]")
    if "expires_after" in form.fields:
        anchor, seconds = _expires_after(form.fields["expires_after"])
    if anchor is None and seconds is None:
        return None
    if anchor != "created_at":
        raise InvalidRequest("The anchor must be 'created_at'.", param="expires_after[anchor]")
    digits = str(seconds)
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 10:  # noqa: PLR2004 - no huge ints
        raise InvalidRequest("Seconds must be an integer.", param="expires_after[seconds]")
    if not MIN_EXPIRY_S <= int(digits) <= MAX_EXPIRY_S:
        raise InvalidRequest(
            f"Seconds must be from {MIN_EXPIRY_S} to {MAX_EXPIRY_S}.",
            param="expires_after[seconds]",
        )
    return int(digits)


def _expires_after(text: str) -> tuple[Any, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or isinstance(value.get("seconds"), bool | float | list | dict):
        raise InvalidRequest("Must be an object with anchor and seconds.", param="expires_after")
    return value.get("anchor"), value.get("seconds")


uploads_router = APIRouter(prefix="/v1/uploads", tags=["Uploads"])
_PART_BODY: Final = _form_body(
    ["data"],
    {"data": {"type": "string", "format": "binary", "description": "The bytes of the part."}},
)


@uploads_router.post("", operation_id="createUpload", responses=responses())
async def create_upload(body: CreateUpload, services: Services) -> UploadObject:
    """Begins the upload of a large file in parts."""
    lifetime_s = None if body.expires_after is None else body.expires_after.seconds
    row = await services.uploads().create(
        NewFile(plain_name(body.filename), body.purpose, lifetime_s),
        size=body.bytes,
        mime_type=body.mime_type,
    )
    return UploadObject.of(row)


@uploads_router.post(
    "/{upload_id}/parts",
    operation_id="addUploadPart",
    responses=responses(404),
    openapi_extra=_PART_BODY,
)
async def add_part(upload_id: str, request: Request, services: Services) -> UploadPart:
    """Adds a part. Parts may arrive in any order and side by side."""
    uploads = services.uploads()
    upload = await uploads.pending(upload_id)
    form = StreamedForm(request, file="data")
    await form.open()
    check = idempotency_check(request, lambda: form.fields)
    return UploadPart.of(await uploads.add_part(upload, form.blocks(), before_insert=check))


@uploads_router.post(
    "/{upload_id}/complete", operation_id="completeUpload", responses=responses(404)
)
async def complete_upload(upload_id: str, body: CompleteUpload, services: Services) -> UploadObject:
    """Joins the parts to a file, in the order of the ids."""
    row, file = await services.uploads().complete(upload_id, body.part_ids, md5=body.md5)
    return UploadObject.of(row, file)


@uploads_router.post("/{upload_id}/cancel", operation_id="cancelUpload", responses=responses(404))
async def cancel_upload(upload_id: str, services: Services) -> UploadObject:
    """Cancels an upload and deletes its parts."""
    return UploadObject.of(await services.uploads().cancel(upload_id))
