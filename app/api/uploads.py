"""Routes of uploads in parts."""

from typing import Any

from fastapi import APIRouter, Request

from app.api.schemas.uploads import CompleteUpload, CreateUpload, UploadObject, UploadPart
from app.api.support.dependencies import Services
from app.api.support.errors import responses
from app.api.support.idempotency_check import idempotency_check
from app.api.support.multipart import StreamedForm, plain_name
from app.domain.data.files import NewFile

router = APIRouter(prefix="/v1/uploads", tags=["Uploads"])
_PART_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["data"],
                    "properties": {
                        "data": {
                            "type": "string",
                            "format": "binary",
                            "description": "The bytes of the part.",
                        }
                    },
                }
            }
        },
    }
}


@router.post("", operation_id="createUpload", responses=responses())
async def create_upload(body: CreateUpload, services: Services) -> UploadObject:
    """Begins the upload of a large file in parts."""
    lifetime_s = None if body.expires_after is None else body.expires_after.seconds
    row = await services.uploads().create(
        NewFile(plain_name(body.filename), body.purpose, lifetime_s),
        size=body.bytes,
        mime_type=body.mime_type,
    )
    return UploadObject.of(row)


@router.post(
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


@router.post("/{upload_id}/complete", operation_id="completeUpload", responses=responses(404))
async def complete_upload(upload_id: str, body: CompleteUpload, services: Services) -> UploadObject:
    """Joins the parts to a file, in the order of the ids."""
    row, file = await services.uploads().complete(upload_id, body.part_ids, md5=body.md5)
    return UploadObject.of(row, file)


@router.post("/{upload_id}/cancel", operation_id="cancelUpload", responses=responses(404))
async def cancel_upload(upload_id: str, services: Services) -> UploadObject:
    """Cancels an upload and deletes its parts."""
    return UploadObject.of(await services.uploads().cancel(upload_id))
