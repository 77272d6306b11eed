"""Routes of files."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from starlette.datastructures import FormData, UploadFile

from app.api.dependencies import After, Services
from app.api.errors import responses
from app.api.schemas.common import Deleted, Page
from app.api.schemas.files import FileObject
from app.domain.errors import InvalidRequest

router = APIRouter(prefix="/v1/files", tags=["Files"])
FileLimit = Annotated[int, Query(ge=1, le=10_000)]
_CHUNK_BYTES = 1 << 20
_MIN_EXPIRY_S, _MAX_EXPIRY_S = 3600, 2_592_000
_UPLOAD_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file", "purpose"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "purpose": {"type": "string"},
                        "expires_after[anchor]": {"type": "string", "enum": ["created_at"]},
                        "expires_after[seconds]": {
                            "type": "integer",
                            "minimum": _MIN_EXPIRY_S,
                            "maximum": _MAX_EXPIRY_S,
                        },
                    },
                }
            }
        },
    }
}


@router.post("", operation_id="createFile", responses=responses(), openapi_extra=_UPLOAD_BODY)
async def create_file(request: Request, services: Services) -> FileObject:
    async with _form(request) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise InvalidRequest("Missing required parameter: 'file'.", param="file")
        row = await services.files().upload(
            _chunks(file),
            filename=_text(file.filename or "file", "file"),
            purpose=_text(form.get("purpose"), "purpose"),
            expires_after_s=_expiry(form),
        )
    return FileObject.of(row)


@router.get("", operation_id="listFiles", responses=responses())
async def list_files(
    services: Services,
    purpose: Annotated[str | None, Query(max_length=64)] = None,
    after: After = None,
    limit: FileLimit = 10_000,
    order: Literal["asc", "desc"] = "desc",
) -> Page[FileObject]:
    rows, has_more = await services.files().page(
        purpose=purpose, after=after, limit=limit, order=order
    )
    data = [FileObject.of(row) for row in rows]
    return Page(
        data=data,
        has_more=has_more,
        first_id=data[0].id if data else None,
        last_id=data[-1].id if data else None,
    )


@router.get("/{file_id}", operation_id="retrieveFile", responses=responses(404))
async def get_file(file_id: str, services: Services) -> FileObject:
    return FileObject.of(await services.files().get(file_id))


@router.delete("/{file_id}", operation_id="deleteFile", responses=responses(404))
async def delete_file(file_id: str, services: Services) -> Deleted:
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
async def get_content(file_id: str, services: Services) -> StreamingResponse:
    row, chunks = await services.files().content(file_id)
    headers = {"content-length": str(row.bytes), "x-content-type-options": "nosniff"}
    return StreamingResponse(chunks, media_type="application/octet-stream", headers=headers)


@asynccontextmanager
async def _form(request: Request) -> AsyncIterator[FormData]:
    """Raises `InvalidRequest` for fields that the form's own charset cannot decode."""
    try:
        form = await request.form(max_files=1, max_fields=16)
    except ValueError as error:
        raise InvalidRequest("The form is not readable in its charset.") from error
    try:
        yield form
    finally:
        await form.close()


async def _chunks(file: UploadFile) -> AsyncIterator[bytes]:
    while chunk := await file.read(_CHUNK_BYTES):
        yield chunk


def _text(value: object, param: str) -> str:
    if not isinstance(value, str) or not value or len(value) > 255 or "\x00" in value:  # noqa: PLR2004 - file-name limit
        raise InvalidRequest(f"Missing or unusable parameter: '{param}'.", param=param)
    return value.encode("utf-8", errors="replace").decode()


def _expiry(form: FormData) -> int | None:
    anchor, seconds = form.get("expires_after[anchor]"), form.get("expires_after[seconds]")
    if anchor is None and seconds is None:
        return None
    if anchor != "created_at":
        raise InvalidRequest("The anchor must be 'created_at'.", param="expires_after[anchor]")
    if not isinstance(seconds, str) or not seconds.isdecimal() or len(seconds) > 10:  # noqa: PLR2004 - no huge ints
        raise InvalidRequest("Seconds must be an integer.", param="expires_after[seconds]")
    if not _MIN_EXPIRY_S <= int(seconds) <= _MAX_EXPIRY_S:
        raise InvalidRequest(
            f"Seconds must be from {_MIN_EXPIRY_S} to {_MAX_EXPIRY_S}.",
            param="expires_after[seconds]",
        )
    return int(seconds)
