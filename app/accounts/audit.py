"""Entries of the audit log: who changed what, when, and from which address. Pure."""

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

AuditEventType = Literal[
    "api_key.created",
    "api_key.updated",
    "api_key.deleted",
    "project.created",
    "project.updated",
    "project.archived",
    "service_account.created",
    "service_account.updated",
    "service_account.deleted",
    "login.succeeded",
    "logout.succeeded",
    "checkpoint.permission.created",
    "checkpoint.permission.deleted",
    "fine_tuning.job.created",
    "fine_tuning.job.paused",
    "fine_tuning.job.resumed",
    "fine_tuning.job.cancelled",
    "fine_tuning.job.deleted",
    "file.created",
    "file.deleted",
    "upload.created",
    "upload.completed",
    "upload.cancelled",
    "tool.created",
    "tool.updated",
    "tool.deleted",
    "grader.created",
    "grader.updated",
    "grader.deleted",
    "environment.created",
    "environment.updated",
    "environment.deleted",
    "recipe.created",
    "recipe.updated",
    "recipe.deleted",
    "curriculum.created",
    "curriculum.updated",
    "curriculum.deleted",
    "chat.completion.updated",
    "chat.completion.deleted",
    "feedback.created",
    "feedback.deleted",
    "feedback.build.created",
    "webhook_endpoint.created",
    "webhook_endpoint.updated",
    "webhook_endpoint.deleted",
    "eval.created",
    "eval.updated",
    "eval.deleted",
    "eval.run.created",
    "eval.run.cancelled",
    "eval.run.deleted",
    "student.created",
    "student.updated",
    "student.deleted",
    "student.skill.created",
    "coach_session.created",
    "coach_session.updated",
    "model.deleted",
    "model.export.created",
    "model.export.cancelled",
    "model.export.deleted",
]
AUDIT_EVENT_TYPES: Final[tuple[str, ...]] = get_args(AuditEventType)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    id: str
    type: str
    effective_at: int
    actor_kind: str
    actor_id: str
    """Id of the API key; empty for a command of the operator."""
    service_account_id: str | None
    address: str
    project_id: str | None
    project_name: str | None
    resource_id: str
    details: dict[str, Any]
    """The entry's `data` for a created object, or its `changes_requested` for a changed one."""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Entries to list: those that meet every condition. An empty list sets no condition."""

    after_s: float | None = None
    from_s: float | None = None
    before_s: float | None = None
    until_s: float | None = None
    event_types: tuple[str, ...] = ()
    actor_ids: tuple[str, ...] = ()
    project_ids: tuple[str, ...] = ()
    resource_ids: tuple[str, ...] = ()
