"""Use cases of exports of tuned models: creation, listing, deletion, download. A worker does the
merging.

Promises that exactly the projects that may chat with a model may export it, see its exports and
download them, and that an export which cannot succeed is refused at once. A project that may no
longer chat with it can still delete its exports.
"""

import asyncio
from dataclasses import dataclass
from typing import Final

import structlog

from app.domain.accounts.tenants import Tenant
from app.domain.errors import InvalidRequest, NoFreeSpace, NotFound, WrongState
from app.domain.ids import new_id
from app.domain.models.exports import ExportKind, ExportStatus, ModelExport, export_manifest
from app.domain.models.manifests import ManifestMismatch
from app.domain.models.models import BaseModelSpec, find_base_model
from app.gateways.base_weights import BaseWeights, base_weights
from app.gateways.free_space import FreeSpace
from app.gateways.job_queue import JobQueue
from app.gateways.objects import Objects
from app.services.models.models import ModelService
from app.services.models.stored_archives import StoredArchive, packed_archive, stored_members
from app.store.database import Database

log = structlog.get_logger()

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
        """Creates an export. Raises `NotFound`, `InvalidRequest` for weights that cannot be merged,
        `NoFreeSpace`, `QuotaExceeded`, and `WrongState` while an export of the model is open.
        """
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
        """Returns an export. Raises `NotFound` for an unknown one, and for a model that is deleted
        or no longer shared.
        """
        await self._ports.models.get(model)
        async with self._database.tenant(self._tenant) as unit:
            return await unit.exports.get(model, export_id)

    async def page(
        self, model: str, *, after: str | None, limit: int
    ) -> tuple[list[ModelExport], bool]:
        """Returns a page, newest first. Raises `NotFound` for a model as `get` does."""
        await self._ports.models.get(model)
        async with self._database.tenant(self._tenant) as unit:
            return await unit.exports.page(model, after=after, limit=limit)

    async def delete(self, model: str, export_id: str) -> None:
        """Deletes an export; one that is open ends."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.exports.mark_deleted(model, export_id)

    async def archive(self, model: str, export_id: str) -> StoredArchive:
        """Returns the archive of an export. Raises `NotFound`, also for missing files, and
        `WrongState` for an incomplete export.
        """
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
        manifest = export_manifest(export, {file.name: file.sha256 for file in members})
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
