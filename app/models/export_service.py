"""Exports of models, and archives of stored directories: a tar that is built while it is sent."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import structlog

from app.database import Database
from app.kit.callers import Tenant
from app.kit.directories import MANIFEST, FreeSpace, ManifestMismatch, check_digests, read_manifest
from app.kit.errors import InvalidRequest, NoFreeSpace, NotFound, WrongState
from app.kit.ids import new_id
from app.kit.job_queue import JobQueue
from app.kit.objects import Objects
from app.kit.tar import Member, StoredMember, TarArchive, TextMember
from app.models.adapters import (
    ADAPTER_FILES,
    CARD,
    AdapterFacts,
    ExportKind,
    ExportStatus,
    ModelExport,
    manifest_of,
    model_card,
    sha256_hex,
)
from app.models.models import BaseModelSpec, TunedModel, find_base_model
from app.models.service import ModelService

_FLOAT32_BYTES: Final = 4
_ITEM_BYTES: Final = {"bfloat16": 2, "float16": 2, "float32": _FLOAT32_BYTES}


@dataclass(frozen=True, slots=True)
class BaseWeights:
    merged_bytes: int
    """Size of the weights in float32, as in an export; 0 if unknown."""
    is_quantized: bool


def base_weights(spec: BaseModelSpec) -> BaseWeights:
    directory = Path(spec.path)
    try:
        config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        size = sum(path.stat().st_size for path in directory.glob("*.safetensors"))
    except (OSError, ValueError):
        return BaseWeights(0, is_quantized=False)
    if not isinstance(config, dict):
        return BaseWeights(0, is_quantized=False)
    stored_as = config.get("dtype", config.get("torch_dtype"))
    return BaseWeights(
        size * _FLOAT32_BYTES // _ITEM_BYTES.get(str(stored_as), _FLOAT32_BYTES),
        is_quantized=bool(config.get("quantization_config")),
    )


@dataclass(frozen=True, slots=True)
class StoredArchive:
    filename: str
    manifest_sha256: str
    """Identifies the content: the manifest contains all other digests."""
    _tar: TarArchive
    _objects: Objects

    @property
    def size(self) -> int:
        return self._tar.size

    def read(self, start: int, stop: int) -> AsyncGenerator[bytes, None]:
        return self._tar.read(self._objects, start=start, stop=stop)


def packed_archive(
    objects: Objects, name: str, *, manifest: bytes, members: Sequence[Member], modified_at: int
) -> StoredArchive:
    return StoredArchive(
        filename=f"{name}.tar",
        manifest_sha256=sha256_hex(manifest),
        _tar=TarArchive([TextMember(MANIFEST, manifest), *members], modified_at=modified_at),
        _objects=objects,
    )


async def stored_members(objects: Objects, object_key: str) -> list[StoredMember]:
    content = b"".join([chunk async for chunk in objects.read(f"{object_key}/{MANIFEST}")])
    digests = read_manifest(object_key, content)
    sizes = {
        child.name: child.bytes
        for child in await objects.children(object_key)
        if child.name != MANIFEST
    }
    check_digests(object_key, dict.fromkeys(digests, ""), dict.fromkeys(sizes, ""))
    return [
        StoredMember(file, f"{object_key}/{file}", sizes[file] or 0, digests[file])
        for file in sorted(digests)
    ]


log = structlog.get_logger()

CODE: Final = "adapter_gone"


class AdapterService:
    def __init__(
        self, models: ModelService, objects: Objects, *, base_models: tuple[BaseModelSpec, ...]
    ) -> None:
        self._models = models
        self._objects = objects
        self._base_models = base_models

    async def archive(self, name: str) -> StoredArchive:
        model = await self._models.get(name)
        if model.tuned is None:
            raise InvalidRequest(
                f"'{name}' is a base model, which has no adapter: it was not trained here. "
                "Download a tuned model or a checkpoint.",
                param="model",
                code="base_model",
            )
        try:
            stored = await self._stored(model.tuned.object_key)
        except (FileNotFoundError, ManifestMismatch) as error:
            log.warning("adapter cannot be read", model=name, error=repr(error))
            raise NotFound(
                f"The files of '{name}' are gone from the object storage or damaged there, so "
                "there is nothing to download. Ask the operator to restore them, or train again.",
                param="model",
                code=CODE,
            ) from error
        return self._packed(model.tuned, stored)

    async def _stored(self, object_key: str) -> list[StoredMember]:
        members = await stored_members(self._objects, object_key)
        names = {member.name for member in members}
        if not names >= ADAPTER_FILES:
            raise ManifestMismatch(f"{object_key} is not an adapter: it has {sorted(names)}")
        return members

    def _packed(self, tuned: TunedModel, stored: list[StoredMember]) -> StoredArchive:
        base = find_base_model(self._base_models, tuned.base_model)
        facts = AdapterFacts(
            model=tuned.name,
            base_model=tuned.base_model,
            base_weights=None if base is None else base.hub_id,
            step=tuned.step,
            created_at=tuned.created_at,
            reasoning_effort=tuned.reasoning_effort,
        )
        card = model_card(facts)
        digests = {file.name: file.sha256 for file in stored} | {CARD: sha256_hex(card)}
        return packed_archive(
            self._objects,
            facts.model,
            manifest=manifest_of(asdict(facts), digests),
            members=[TextMember(CARD, card), *stored],
            modified_at=facts.created_at,
        )


_MANIFEST_FACTS: Final = ("model", "base_model", "kind", "created_at")
_COPIES: Final = 2
"""Copies of the weights that an export writes: a temporary and a stored one."""


@dataclass(frozen=True, slots=True)
class ExportPorts:
    models: ModelService
    objects: Objects
    queue: JobQueue
    space: FreeSpace
    base_models: tuple[BaseModelSpec, ...]


class ExportService:
    def __init__(self, database: Database, ports: ExportPorts, tenant: Tenant) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant

    async def create(self, model: str, kind: ExportKind) -> ModelExport:
        called = await self._ports.models.get(model)
        if called.tuned is None:
            raise InvalidRequest(
                f"'{model}' is a base model, into which nothing was trained here. Export a tuned "
                "model or a checkpoint.",
                param="model",
                code="base_model",
            )
        weights = await self._weights(model, called.tuned.base_model)
        export = ModelExport(
            id=new_id("export_"),
            model=model,
            base_model=called.tuned.base_model,
            kind=kind,
            bytes=weights.merged_bytes,
        )
        async with self._database.tenant(self._tenant) as unit:
            await unit.quotas.check_export(weights.merged_bytes)
            await unit.exports.insert(export)
            unit.after_commit(lambda: self._ports.queue.enqueue_export(export.id))
        return await self.get(model, export.id)

    async def get(self, model: str, export_id: str) -> ModelExport:
        await self._ports.models.get(model)
        async with self._database.tenant(self._tenant) as unit:
            return await unit.exports.get(model, export_id)

    async def page(
        self, model: str, *, after: str | None, limit: int
    ) -> tuple[list[ModelExport], bool]:
        await self._ports.models.get(model)
        async with self._database.tenant(self._tenant) as unit:
            return await unit.exports.page(model, after=after, limit=limit)

    async def delete(self, model: str, export_id: str) -> None:
        async with self._database.tenant(self._tenant) as unit:
            await unit.exports.mark_deleted(model, export_id)

    async def archive(self, model: str, export_id: str) -> StoredArchive:
        """Raises `NotFound`, also for missing files, and `WrongState` for an incomplete export."""
        export = await self.get(model, export_id)
        if export.status is not ExportStatus.COMPLETED or export.object_key is None:
            raise WrongState(
                f"Export {export_id} is {export.status.value}: only a completed one can be "
                "downloaded.",
                param="export_id",
            )
        try:
            members = await stored_members(self._ports.objects, export.object_key)
        except (FileNotFoundError, ManifestMismatch) as error:
            log.warning("export cannot be read", export_id=export_id, error=repr(error))
            raise NotFound(
                f"The files of export {export_id} are gone from the object storage or damaged "
                "there. Delete it and make another one.",
                param="export_id",
                code="export_gone",
            ) from error
        facts = {name: getattr(export, name) for name in _MANIFEST_FACTS}
        manifest = manifest_of(facts, {file.name: file.sha256 for file in members})
        return packed_archive(
            self._ports.objects,
            f"{model}:merged",
            manifest=manifest,
            members=members,
            modified_at=export.created_at,
        )

    async def _weights(self, model: str, base_model: str) -> BaseWeights:
        spec = find_base_model(self._ports.base_models, base_model)
        if spec is None:
            raise InvalidRequest(
                f"'{model}' cannot be merged: its base model '{base_model}' is not offered any "
                "more. Download the adapter, or ask the operator to offer the base model again.",
                param="model",
                code="base_not_offered",
            )
        weights = await asyncio.to_thread(base_weights, spec)
        if weights.is_quantized:
            raise InvalidRequest(
                f"'{model}' cannot be merged: the weights of its base model '{base_model}' are "
                "quantized. Download the adapter and load it on top of the base model.",
                param="model",
                code="base_quantized",
            )
        if self._ports.space.lacks(more_bytes=_COPIES * weights.merged_bytes):
            raise NoFreeSpace(
                f"The service has too little free disk space to merge '{model}': it needs "
                f"{_COPIES} × {weights.merged_bytes / 1e9:.1f} GB. Ask the operator, or download "
                "the adapter."
            )
        return weights
