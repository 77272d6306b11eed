"""Adapters and exports: their files, cards and manifests."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal

from app.kit.directories import MANIFEST
from app.kit.errors import NotFound

CONFIG_FILE: Final = "adapter_config.json"
WEIGHTS_FILE: Final = "adapter_model.safetensors"
CARD: Final = "README.md"
ADAPTER_FILES: Final = frozenset({CONFIG_FILE, WEIGHTS_FILE})


@dataclass(frozen=True, slots=True)
class AdapterFacts:
    model: str
    base_model: str
    base_weights: str | None
    """Hub id of the base model's weights; `None` for weights in a directory of the operator."""
    step: int
    created_at: int
    reasoning_effort: str | None


def model_card(facts: AdapterFacts) -> bytes:
    weights = facts.base_weights
    front = ["---", "library_name: peft", "tags:", "- lora"]
    if weights is not None:
        front.append(f"base_model: {json.dumps(weights)}")
    origin = (
        f"The weights of the base model are `{weights}`."
        if weights is not None
        else "Ask the operator of the service for the weights of the base model."
    )
    shown = json.dumps(weights or f"directory of {facts.base_model}")
    lines = [
        *(*front, "---", f"# {facts.model}", ""),
        f"A LoRA adapter for `{facts.base_model}`, as it was after step {facts.step} of its job.",
        *(origin, ""),
        "    from peft import PeftModel",
        "    from transformers import AutoModelForCausalLM",
        "",
        f"    base = AutoModelForCausalLM.from_pretrained({shown})",
        '    model = PeftModel.from_pretrained(base, "directory of this file")',
        "",
        f"`{MANIFEST}` has the SHA-256 of every other file.",
    ]
    return "\n".join([*lines, ""]).encode()


def manifest_of(content: Mapping[str, Any], digests: Mapping[str, str]) -> bytes:
    """Returns a manifest: the facts, and under `sha256` the digest of every other file."""
    text = json.dumps({**content, "sha256": dict(digests)}, indent=2, sort_keys=True)
    return f"{text}\n".encode()


def sha256_hex(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


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
    kind: ExportKind
    status: ExportStatus = ExportStatus.QUEUED
    stage: ExportStage | None = None
    bytes: int
    """Bytes of the export; before its end an estimate, or 0 without one."""
    object_key: str | None = None
    error: dict[str, Any] | None = None
    created_at: int = 0
    finished_at: int | None = None
    expires_at: int | None = None


def export_directory(project_id: str, export_id: str) -> str:
    return f"projects/{project_id}/exports/{export_id}"


def no_export(export_id: str) -> NotFound:
    return NotFound(f"No such export: {export_id}", param="export_id", code="export_not_found")


def merged_card(model: str, base_model: str, *, step: int) -> str:
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
