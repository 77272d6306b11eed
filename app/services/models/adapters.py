"""Downloads of adapters: the PEFT files of a tuned model or checkpoint as one archive.

Promises that exactly the projects that may chat with a model may download its adapter; that the
stored files are streamed, never loaded whole; and that no key of the object storage is shown.
"""

from typing import Final

import structlog

from app.domain.errors import InvalidRequest, NotFound
from app.domain.models.adapter_archives import (
    ADAPTER_FILES,
    CARD,
    AdapterFacts,
    archive_manifest,
    model_card,
    sha256_hex,
)
from app.domain.models.manifests import ManifestMismatch
from app.domain.models.models import BaseModelSpec, find_base_model
from app.domain.models.tuned_models import TunedModel
from app.gateways.objects import Objects
from app.gateways.objects.tar import Member, StoredMember, TextMember
from app.services.models.models import ModelService
from app.services.models.stored_archives import StoredArchive, packed_archive, stored_members

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
        """Returns the archive of an adapter. Raises `NotFound` for a model that the project may not
        call, and for one whose files are missing or damaged; `InvalidRequest` for a base model.
        """
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
        return self._packed(self._facts(model.tuned), stored)

    def _facts(self, tuned: TunedModel) -> AdapterFacts:
        base = find_base_model(self._base_models, tuned.base_model)
        return AdapterFacts(
            model=tuned.name,
            base_model=tuned.base_model,
            base_weights=None if base is None else base.hub_id,
            step=tuned.step,
            created_at=tuned.created_at,
            reasoning_effort=tuned.reasoning_effort,
        )

    async def _stored(self, object_key: str) -> list[StoredMember]:
        """Returns the adapter's files in order of name."""
        members = await stored_members(self._objects, object_key)
        names = {member.name for member in members}
        if not names >= ADAPTER_FILES:
            raise ManifestMismatch(f"{object_key} is not an adapter: it has {sorted(names)}")
        return members

    def _packed(self, facts: AdapterFacts, stored: list[StoredMember]) -> StoredArchive:
        card = model_card(facts)
        digests = {file.name: file.sha256 for file in stored} | {CARD: sha256_hex(card)}
        manifest = archive_manifest(facts, digests)
        members: list[Member] = [TextMember(CARD, card), *stored]
        return packed_archive(
            self._objects,
            facts.model,
            manifest=manifest,
            members=members,
            modified_at=facts.created_at,
        )
