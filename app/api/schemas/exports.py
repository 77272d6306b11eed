"""Exports of models on the wire; an extension of the hosted API."""

from typing import Literal

from pydantic import ConfigDict

from app.api.schemas.common import Deleted
from app.domain.documents.described import DescribedModel
from app.domain.models.exports import ExportKind, ExportStage, ExportStatus, ModelExport


class CreateModelExport(DescribedModel):
    """The form of an export."""

    model_config = ConfigDict(extra="forbid")

    kind: ExportKind = "merged"
    """`merged`: base model and adapter as one model, in float32, as `transformers` reads it."""


class ExportError(DescribedModel):
    """Reason why an export failed."""

    code: str
    """The error in a word that programs can compare."""
    message: str
    """The fault in a sentence, with its cure."""


class ModelExportObject(DescribedModel):
    """An export of a model: its state, and its size once it is complete."""

    id: str
    object: Literal["model.export"] = "model.export"
    model: str
    """Name of the exported model."""
    kind: ExportKind
    """Form of the export."""
    status: ExportStatus
    """State of the export; `completed` ones can be downloaded."""
    stage: ExportStage | None
    """Current stage of the work; `null` before and after."""
    bytes: int
    """Bytes of the files; before the end an estimate."""
    error: ExportError | None
    """The reason of a failure."""
    created_at: int
    finished_at: int | None
    """Unix seconds of the end."""
    expires_at: int | None
    """Unix seconds at which the export is removed."""

    @classmethod
    def of(cls, export: ModelExport) -> "ModelExportObject":
        return cls(
            id=export.id,
            model=export.model,
            kind=export.kind,
            status=export.status,
            stage=export.stage,
            bytes=export.bytes,
            error=None if export.error is None else ExportError.model_validate(export.error),
            created_at=export.created_at,
            finished_at=export.finished_at,
            expires_at=export.expires_at,
        )


class ModelExportDeleted(Deleted):
    """The confirmation that an export and its files are deleted."""

    object: Literal["model.export"] = "model.export"
    deleted: Literal[True] = True
