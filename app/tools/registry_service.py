"""Registered objects of one noun, their secrets, and references to them in calls."""

import asyncio
import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, assert_never

import structlog
from pydantic import BaseModel

from app.database import Database
from app.kit.callers import Tenant
from app.kit.egress import Egress
from app.kit.errors import InvalidRequest, NotFound, SecretsLost, WrongState
from app.kit.faults import UnreadKey
from app.kit.ids import new_id
from app.kit.redaction import require_sealed, restore_secrets, split, with_earlier_values
from app.kit.sealing import SecretBox
from app.tools.environments import misspelt_environment
from app.tools.references import NamedReference, RegisteredReference
from app.tools.registry import ID_PREFIXES, SEALED_VERSION, LabelChanges, Noun, RegisteredVersion

log = structlog.get_logger()

MAX_DEFINITION_BYTES: Final = 262_144
"""Largest tool or grader as JSON: a page has a hundred of them."""


@dataclass(frozen=True, slots=True)
class RegistryPorts:
    egress: Egress
    secret_box: SecretBox


class RegistryService:
    noun: ClassVar[Noun]
    models: ClassVar[tuple[type[BaseModel], ...]] = ()
    """The classes of a definition; empty if it contains neither addresses nor secrets."""
    root: ClassVar[str] = ""
    """The parameter of a request with the definition."""

    def __init__(self, database: Database, ports: RegistryPorts, tenant: Tenant) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant

    async def get(self, object_id: str, *, version: int | None = None) -> RegisteredVersion:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.registry.get(self.noun, object_id, version=version)

    async def get_named(self, name: str, *, version: int | None = None) -> RegisteredVersion:
        async with self._database.tenant(self._tenant) as unit:
            object_id = await unit.registry.id_of(self.noun, name)
            return await unit.registry.get(self.noun, object_id or name, version=version)

    async def check_name(self, name: str) -> None:
        async with self._database.tenant(self._tenant) as unit:
            await unit.registry.check_name(self.noun, name)

    async def page(self, *, after: str | None, limit: int) -> tuple[list[RegisteredVersion], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.registry.page(self.noun, after=after, limit=limit)

    async def versions(
        self, object_id: str, *, before: int | None, limit: int
    ) -> tuple[list[RegisteredVersion], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.registry.versions(self.noun, object_id, before=before, limit=limit)

    async def delete(self, object_id: str) -> None:
        async with self._database.tenant(self._tenant) as unit:
            await unit.registry.mark_deleted(self.noun, object_id)

    async def reveal(self, registered: RegisteredVersion) -> dict[str, Any]:
        """Returns the definition with its secrets; never show or store it. Raises `WrongState`."""
        try:
            return await asyncio.to_thread(self._revealed, registered)
        except SecretsLost as error:
            self._log_lost(registered, error)
            raise WrongState(
                f"The stored secrets of {self.noun.value} {registered.id}, version "
                f"{registered.version}, cannot be read any more: send its url and headers again as "
                "an update, which makes a new version.",
                param="id",
            ) from error

    async def usable(self, registered: RegisteredVersion) -> dict[str, Any]:
        """Returns the same as `reveal`. Raises `WrongState` also for one that is refused today."""
        definition = await self.reveal(registered)
        try:
            await asyncio.to_thread(self._validate, definition)
        except InvalidRequest as error:
            raise WrongState(
                f"The {self.noun.value} {registered.id}, version {registered.version}, was "
                f"registered under earlier rules and is refused today. {error.message} Send an "
                "update, which makes a new version.",
                param="id",
            ) from error
        return definition

    def _validate(self, definition: dict[str, Any]) -> None:
        """Raises `InvalidRequest` for an invalid definition. Makes no calls."""

    async def _earlier(self, before: RegisteredVersion) -> dict[str, Any]:
        """Returns the earlier values; none if they are lost, so that an update can repair."""
        try:
            return await asyncio.to_thread(self._revealed, before)
        except SecretsLost as error:
            self._log_lost(before, error)
            return {}

    def _log_lost(self, registered: RegisteredVersion, error: SecretsLost) -> None:
        log.warning(
            "secrets lost",
            id=registered.id,
            version=registered.version,
            project_id=self._tenant.project_id,
            error=str(error),
        )

    def _revealed(self, registered: RegisteredVersion) -> dict[str, Any]:
        if not self.models:
            return deepcopy(registered.definition)
        opened = {}
        if registered.secrets is not None:
            opened = self._ports.secret_box.open(
                registered.secrets,
                project_id=self._tenant.project_id,
                row_id=_sealed_for(registered.id, registered.version),
            )
        require_sealed(self.models, registered.definition, opened)
        whole: dict[str, Any] = restore_secrets(registered.definition, opened)
        return whole

    async def _insert(
        self, name: str, definition: dict[str, Any], *, metadata: dict[str, str] | None
    ) -> RegisteredVersion:
        (made,) = await self._insert_all([await self._new(name, definition, metadata=metadata)])
        return made

    async def _new(
        self, name: str, definition: dict[str, Any], *, metadata: dict[str, str] | None
    ) -> RegisteredVersion:
        new = RegisteredVersion(
            id=new_id(ID_PREFIXES[self.noun]),
            noun=self.noun,
            version=1,
            name=name,
            definition=await self._with_earlier_values(definition, {}),
            metadata=metadata,
            created_at=0,
            updated_at=0,
        )
        return await self._checked_and_sealed(new)

    async def _insert_all(self, new: Sequence[RegisteredVersion]) -> list[RegisteredVersion]:
        made = list[RegisteredVersion]()
        async with self._database.tenant(self._tenant) as unit:
            for one in new:
                await unit.quotas.check_registered_object()
                await unit.registry.insert(one)
                stored = await unit.registry.get(self.noun, one.id)
                made.append(replace(stored, unread=one.unread))
        return made

    async def _append(
        self, before: RegisteredVersion, definition: dict[str, Any], labels: LabelChanges
    ) -> RegisteredVersion:
        """Adds the version after `before`. Raises `WrongState` if that is not the newest."""
        new = replace(
            before,
            version=before.version + 1,
            name=before.name if labels.name is None else labels.name,
            definition=await self._with_earlier_values(definition, await self._earlier(before)),
            metadata=labels.metadata if labels.sets_metadata else before.metadata,
            secrets=None,
        )
        new = await self._checked_and_sealed(new)
        async with self._database.tenant(self._tenant) as unit:
            await unit.quotas.check_registered_object()
            await unit.registry.append(new)
            made = await unit.registry.get(self.noun, new.id)
        return replace(made, unread=new.unread)

    async def _checked_and_sealed(self, plain: RegisteredVersion) -> RegisteredVersion:
        if not self.models:
            return plain
        self._check_size(plain.definition)
        unread = await self._check(plain.definition)
        definition, secrets = await asyncio.to_thread(split, self.models, plain.definition)
        sealed = self._ports.secret_box.seal(
            secrets, project_id=self._tenant.project_id, row_id=_sealed_for(plain.id, plain.version)
        )
        return replace(
            plain, definition=definition, secrets=sealed if secrets else None, unread=unread
        )

    def _check_size(self, definition: dict[str, Any]) -> None:
        if len(json.dumps(definition)) > MAX_DEFINITION_BYTES:
            raise InvalidRequest(
                f"A {self.noun.value} is larger than {MAX_DEFINITION_BYTES} bytes.",
                param=self.root or None,
                code="invalid_value",
            )

    async def _check(self, definition: dict[str, Any]) -> tuple[UnreadKey, ...]:
        del definition
        return ()

    async def _with_earlier_values(
        self, definition: dict[str, Any], before: dict[str, Any]
    ) -> dict[str, Any]:
        if not self.models:
            return deepcopy(definition)
        self._check_size(definition)
        return await asyncio.to_thread(
            with_earlier_values, self.models, definition, before, root=self.root
        )


def _sealed_for(object_id: str, version: int) -> str:
    """Returns the row to which secrets are bound; no job has such an id."""
    return f"{object_id}{SEALED_VERSION}{version}"


_COMPARED: Final = 100
"""Number of registered names, the newest ones, that an unknown name is compared with."""


async def find_registered(
    reference: RegisteredReference, service: RegistryService, param: str
) -> RegisteredVersion:
    id_param = id_parameter(reference, service.noun, param)
    if isinstance(reference, NamedReference):
        return await _named(reference.id, service, param=id_param)
    newest = await _found(service.get, reference.id, None, param=id_param)
    if reference.version is None or reference.version == newest.version:
        return newest
    return await _found(service.get, reference.id, reference.version, param=f"{param}.version")


async def _named(name: str, service: RegistryService, *, param: str) -> RegisteredVersion:
    try:
        return await _found(service.get_named, name, None, param=param)
    except InvalidRequest as error:
        newest, _ = await service.page(after=None, limit=_COMPARED)
        meant = misspelt_environment(name, [str(each.definition.get("name")) for each in newest])
        if meant is None:
            raise
        message = f"{error.message}; {meant}"
        raise InvalidRequest(message, param=param, code=error.code) from error


def id_parameter(reference: RegisteredReference, noun: Noun, param: str) -> str:
    match noun:
        case Noun.CURRICULUM:
            return "curriculum"
        case Noun.TOOL | Noun.GRADER | Noun.ENVIRONMENT | Noun.RECIPE:
            return param if isinstance(reference, NamedReference) else f"{param}.id"
        case _:
            assert_never(noun)


async def _found(
    get: Callable[..., Any], object_id: str, version: int | None, *, param: str
) -> RegisteredVersion:
    try:
        registered: RegisteredVersion = await get(object_id, version=version)
    except NotFound as error:
        raise InvalidRequest(error.message, param=param, code=error.code) from error
    return registered
