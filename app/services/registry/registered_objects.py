"""What registered tools, graders and curricula share: versions, names, sealed headers.

Owns the split of a definition into what is shown and what is sealed, and the way back. A header
value that is sent as `[redacted]` stands for the earlier one, and only as long as the address it
goes to is the same: nobody may learn a secret by moving the object to an address of his own.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from app.domain.accounts.tenants import Tenant
from app.domain.errors import InvalidRequest
from app.domain.ids import new_id
from app.domain.jobs.redaction import REDACTED, Headers, collect_headers, redact, restore_headers
from app.domain.registry.registered_objects import ID_PREFIXES, Noun, Registered
from app.gateways.egress.egress import Egress
from app.gateways.secrets import SecretBox
from app.store.database import Database

MAX_DEFINITION_BYTES: Final = 262_144
"""Of a tool or a grader as JSON: a page holds a hundred of them."""
_GRADER_ADDRESSES: Final = {"endpoint": "url", "score_model": "base_url"}
"""By type; a tool's address is its `server_url`."""


@dataclass(frozen=True, slots=True)
class RegistryPorts:
    egress: Egress
    secret_box: SecretBox


class RegistryService:
    """The registered objects of one noun and one tenant."""

    noun: ClassVar[Noun]
    part: ClassVar[str | None] = None
    """Key of `method.reinforcement` that a definition stands under: `tools` or `grader`."""

    def __init__(self, database: Database, ports: RegistryPorts, tenant: Tenant) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant

    async def get(self, object_id: str, *, version: int | None = None) -> Registered:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.registry.get(self.noun, object_id, version=version)

    async def page(self, *, after: str | None, limit: int) -> tuple[list[Registered], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.registry.page(self.noun, after=after, limit=limit)

    async def versions(
        self, object_id: str, *, before: int | None, limit: int
    ) -> tuple[list[Registered], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.registry.versions(self.noun, object_id, before=before, limit=limit)

    async def delete(self, object_id: str) -> None:
        async with self._database.tenant(self._tenant) as unit:
            await unit.registry.mark_deleted(self.noun, object_id)

    def reveal(self, registered: Registered) -> dict[str, Any]:
        """The definition with the real header values; never to be shown or stored."""
        if registered.secrets is None:
            return deepcopy(registered.definition)
        headers = self._ports.secret_box.open(
            registered.secrets,
            project_id=self._tenant.project_id,
            job_id=_sealed_for(registered.id, registered.version),
        )
        return self._unwrapped(restore_headers(self._wrapped(registered.definition), headers))

    async def _insert(
        self, name: str, definition: dict[str, Any], *, metadata: dict[str, str] | None
    ) -> Registered:
        """A first version. Raises `InvalidRequest` for a name that is taken or a bad address."""
        new = Registered(
            id=new_id(ID_PREFIXES[self.noun]),
            noun=self.noun,
            version=1,
            name=name,
            definition=self._with_known_headers(definition, {}),
            metadata=metadata,
            created_at=0,
            updated_at=0,
        )
        new = await self._checked_and_sealed(new)
        async with self._database.tenant(self._tenant) as unit:
            await unit.registry.insert(new)
            return await unit.registry.get(self.noun, new.id)

    async def _append(
        self,
        before: Registered,
        name: str,
        definition: dict[str, Any],
        *,
        metadata: dict[str, str] | None,
    ) -> Registered:
        """The version after `before`; raises also `WrongState` when that is not the newest."""
        new = replace(
            before,
            version=before.version + 1,
            name=name,
            definition=self._with_known_headers(definition, self.reveal(before)),
            metadata=metadata,
            secrets=None,
        )
        new = await self._checked_and_sealed(new)
        async with self._database.tenant(self._tenant) as unit:
            await unit.registry.append(new)
            return await unit.registry.get(self.noun, new.id)

    async def _checked_and_sealed(self, plain: Registered) -> Registered:
        if self.part is None:
            return plain
        if len(json.dumps(plain.definition)) > MAX_DEFINITION_BYTES:
            raise InvalidRequest(
                f"A {self.noun.value} is larger than {MAX_DEFINITION_BYTES} bytes.",
                param="grader" if self.noun is Noun.GRADER else None,
                code="invalid_value",
            )
        await self._check(plain.definition)
        method = self._wrapped(plain.definition)
        headers = collect_headers(method)
        sealed = self._ports.secret_box.seal(
            headers,
            project_id=self._tenant.project_id,
            job_id=_sealed_for(plain.id, plain.version),
        )
        definition = self._unwrapped(redact(method))
        return replace(plain, definition=definition, secrets=sealed if headers else None)

    async def _check(self, definition: dict[str, Any]) -> None:
        """Raises `InvalidRequest` for what may not be called. Headers are the real ones."""

    def _with_known_headers(
        self, definition: dict[str, Any], before: dict[str, Any]
    ) -> dict[str, Any]:
        """A copy in which `[redacted]` is the value that the same address got before."""
        root = "grader." if self.noun is Noun.GRADER else ""
        copy = deepcopy(definition)
        known = list(_owners(before, root))
        for path, owner in _owners(copy, root):
            earlier = _earlier(path, owner, known)
            for name in [name for name, value in owner["headers"].items() if value == REDACTED]:
                if name not in earlier:
                    raise InvalidRequest(
                        f"The header '{name}' reads '{REDACTED}', and no value is known for this "
                        "address: send its real value.",
                        param=f"{path}headers",
                        code="invalid_value",
                    )
                owner["headers"][name] = earlier[name]
        return copy

    def _wrapped(self, definition: dict[str, Any]) -> dict[str, Any]:
        """The definition as a job's `method` would hold it."""
        parts = {"tools": {"tools": [definition]}, "grader": {"grader": definition}}
        return {"type": "reinforcement", "reinforcement": parts.get(self.part or "", {})}

    def _unwrapped(self, method: dict[str, Any]) -> dict[str, Any]:
        inner = method["reinforcement"]
        definition: dict[str, Any] = inner["tools"][0] if "tools" in inner else inner["grader"]
        return definition


def _sealed_for(object_id: str, version: int) -> str:
    """What the sealed headers are bound to; ids of jobs and of objects never look alike."""
    return f"{object_id}/versions/{version}"


def _owners(definition: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The definition and its nested graders, those that carry headers, each with its path; a tool
    has no path and no graders.
    """
    if isinstance(definition.get("headers"), dict):
        yield path, definition
    children = definition.get("graders") if path else None
    for name, child in children.items() if isinstance(children, dict) else ():
        if isinstance(child, dict):
            yield from _owners(child, f"{path}graders.{name}.")


def _earlier(path: str, owner: dict[str, Any], known: list[tuple[str, dict[str, Any]]]) -> Headers:
    """Headers that the owner's address got before: in the same place, or else in all others alike.

    Two graders behind one address may carry different keys, which must not be swapped.
    """
    address = _address(path, owner)
    if address is None:
        return {}
    same = [(place, one["headers"]) for place, one in known if _address(place, one) == address]
    values: dict[str, set[str]] = {}
    for _, headers in same:
        for name, value in headers.items():
            values.setdefault(name, set()).add(value)
    agreed = {name: next(iter(found)) for name, found in values.items() if len(found) == 1}
    return {**agreed, **next((headers for place, headers in same if place == path), {})}


def _address(path: str, owner: dict[str, Any]) -> str | None:
    """Where the headers go: any other key is the customer's own and says nothing of that."""
    field = _GRADER_ADDRESSES.get(owner["type"]) if path else "server_url"
    return None if field is None else owner.get(field)
