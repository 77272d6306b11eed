"""Exports of tuned models: their weights in a format that works without this service. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal

from app.domain.errors import NotFound

EXPORT_TASK: Final = "agent_rft.run_export"
ExportKind = Literal["merged"]
"""`merged`: base model and adapter as one model, in float32, as `transformers` reads it."""
ExportStage = Literal["loading", "merging", "storing"]


class ExportStatus(StrEnum):
    """State of an export; `completed`, `canceled` and `failed` are final."""

    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELED = "canceled"
    FAILED = "failed"


OPEN_EXPORTS: Final = (ExportStatus.QUEUED, ExportStatus.IN_PROGRESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExport:
    id: str
    model: str
    base_model: str
    """The service's name for the base model."""
    kind: ExportKind
    status: ExportStatus = ExportStatus.QUEUED
    stage: ExportStage | None = None
    """Current stage of the work; `None` before and after."""
    bytes: int
    """Bytes of the export; before its end an estimate, or 0 without one."""
    object_key: str | None = None
    """Directory of the files, once the export is complete."""
    error: dict[str, Any] | None = None
    created_at: int = 0
    finished_at: int | None = None
    expires_at: int | None = None


def export_directory(project_id: str, export_id: str) -> str:
    """Returns the key prefix of an export; every claim has its own directory below it."""
    return f"projects/{project_id}/exports/{export_id}"


def no_export(export_id: str) -> NotFound:
    return NotFound(f"No such export: {export_id}", param="export_id", code="export_not_found")


def export_manifest(export: ModelExport, digests: Mapping[str, str]) -> bytes:
    """Returns the manifest of an export's archive."""
    content = {
        "model": export.model,
        "base_model": export.base_model,
        "kind": export.kind,
        "created_at": export.created_at,
        "sha256": dict(digests),
    }
    return (json.dumps(content, indent=2, sort_keys=True) + "\n").encode()


def merged_card(model: str, base_model: str, *, step: int) -> str:
    """Returns the model card of merged weights."""
    lines = [
        *("---", "library_name: transformers", "---", f"# {model}", ""),
        f"`{base_model}` with the adapter of `{model}`, as it was after step {step} of its job,",
        *("merged into one model.", ""),
        "    from transformers import AutoModelForCausalLM, AutoTokenizer",
        "",
        '    model = AutoModelForCausalLM.from_pretrained("directory of this file")',
        '    tokenizer = AutoTokenizer.from_pretrained("directory of this file")',
        "",
    ]
    return "\n".join(lines)
