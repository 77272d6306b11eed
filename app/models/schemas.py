"""Models on the wire. Source: the hosted API's `Model`."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints

from app.kit.fields import DescribedModel, Json
from app.kit.schemas import ClosedBody, Deleted, Metadata
from app.models.adapters import ExportKind, ExportStage, ExportStatus, ModelExport
from app.models.chat import StoredCompletion, text_of
from app.models.models import CheckpointPermission
from app.models.reply_schemas import ChatCompletion


class Model(DescribedModel):
    """A model that can be called."""

    id: str
    """Name of the model, for chat, evals and jobs."""
    object: Literal["model"] = "model"
    created: int
    """Unix seconds at which the model was made."""
    owned_by: str
    """`system` for a base model, else the id of its project."""


class ModelList(DescribedModel):
    """All models on one page."""

    object: Literal["list"] = "list"
    data: list[Model]
    """All models."""


ProjectIdText = Annotated[str, StringConstraints(min_length=1, max_length=128)]


class CreatePermissions(ClosedBody):
    """The projects that may call a checkpoint."""

    project_ids: Annotated[list[ProjectIdText], Field(min_length=1, max_length=100)]
    """Ids of projects that may use the checkpoint's model."""


class PermissionObject(DescribedModel):
    """A project's permission to call a checkpoint."""

    id: str
    object: Literal["checkpoint.permission"] = "checkpoint.permission"
    created_at: int
    project_id: str

    @classmethod
    def of(cls, permission: CheckpointPermission) -> "PermissionObject":
        return cls.read(permission)


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
        return cls.read(
            export, error=None if export.error is None else ExportError.model_validate(export.error)
        )


class ModelExportDeleted(Deleted):
    """The confirmation that an export and its files are deleted."""

    object: Literal["model.export"] = "model.export"
    deleted: Literal[True] = True


class StoredChatCompletion(ChatCompletion):
    """A completion that was stored, as it was answered, with what the caller noted about it."""

    metadata: dict[str, str] | None
    input_user: str | None
    """The end user: `safety_identifier` of the call, else its `user`."""
    tools: list[Json] | None
    """Tools that the call offered; `null` without."""


class UpdateChatCompletion(ClosedBody):
    """New metadata of a stored completion, in place of all earlier pairs."""

    metadata: Metadata | None
    """`null` removes all pairs."""


class ChatCompletionDeleted(DescribedModel):
    """The confirmation that a stored completion is deleted, with the feedback about it."""

    id: str
    object: Literal["chat.completion.deleted"] = "chat.completion.deleted"
    deleted: Literal[True] = True


class StoredChatMessage(DescribedModel):
    """A message of the conversation that a stored completion continued."""

    id: str
    """Id of the completion with the number of the message, from 0."""
    role: str
    """Role of the speaker."""
    content: str | None
    """The text; that of all parts if it was sent in parts."""
    content_parts: list[Json] | None
    """The parts of the text, if it was sent in parts."""
    name: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """Name of the speaker, if one was sent."""
    tool_calls: list[Json] | None = Field(default=None, exclude_if=lambda value: value is None)
    """Calls of an earlier answer, if it had any."""
    tool_call_id: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """Id of the call that a `tool` message answers."""

    @classmethod
    def all_of(cls, stored: StoredCompletion) -> "list[StoredChatMessage]":
        return [
            cls(
                id=f"{stored.id}-{position}",
                role=message["role"],
                content=None if message.get("content") is None else text_of(message["content"]),
                content_parts=parts if isinstance(parts := message.get("content"), list) else None,
                name=message.get("name"),
                tool_calls=message.get("tool_calls"),
                tool_call_id=message.get("tool_call_id"),
            )
            for position, message in enumerate(stored.messages)
        ]


def shown_completion(stored: StoredCompletion) -> dict[str, Any]:
    return {
        **stored.reply,
        "metadata": stored.metadata,
        "input_user": stored.end_user,
        "tools": stored.tools or None,
    }
