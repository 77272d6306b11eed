"""Registered objects that are an endpoint of the customer: tools and environments.

Owns their creation, their new versions, and the rule that a secret moves to no other address. Must
not know how an endpoint is tested.
"""

from typing import Any, ClassVar

from typing_extensions import override

from app.domain.accounts.tenants import Tenant
from app.domain.registry.registered_objects import SERVICE_KEYS, LabelChanges, RegisteredVersion
from app.services.models.judge_models import JudgeModels
from app.services.registry.registered_objects import RegistryPorts, RegistryService
from app.slots.project_slots import ProjectSlots
from app.store.database import Database


class RegisteredEndpointService(RegistryService):
    url_key: ClassVar[str]
    """Key of the endpoint's address. Without it and a name there is no object."""

    @override
    def __init__(
        self,
        database: Database,
        ports: RegistryPorts,
        tenant: Tenant,
        *,
        secret_keys: tuple[str, ...],
        call_timeout_s: float,
        slots: ProjectSlots,
        models: JudgeModels,
    ) -> None:
        """`secret_keys` are the service's keys, from which signatures are derived; `slots` are
        shared by the process.
        """
        super().__init__(database, ports, tenant)
        self._models = models
        self._secret_keys = secret_keys
        self._call_timeout_s = call_timeout_s
        self._slots = slots

    async def create(self, values: dict[str, Any]) -> RegisteredVersion:
        """`values`: the object as sent, `metadata` included. Raises `InvalidRequest`."""
        definition = self._definition(values)
        self._check_name(definition["name"])
        return await self._insert(definition["name"], definition, metadata=values.get("metadata"))

    async def update(self, object_id: str, changes: dict[str, Any]) -> RegisteredVersion:
        """Inserts a new version: keys that are not sent stay, a null removes an optional one.

        With an address the redacted definition is the start: a secret moves to no other address.
        So it is when the earlier secrets are lost: what is not sent anew is refused by name.
        """
        before = await self.get(object_id)
        required = ("name", self.url_key)
        kept = {k: v for k, v in changes.items() if k not in required or v is not None}
        earlier = {} if self.url_key in kept else await self._earlier(before)
        definition = self._definition({**(earlier or before.definition), **kept})
        if definition["name"] != before.name:
            self._check_name(definition["name"])
        labels = LabelChanges(definition["name"], changes.get("metadata"), "metadata" in changes)
        return await self._append(before, definition, labels)

    def _check_name(self, name: str) -> None:
        """Raises `InvalidRequest` for a name that the object may not have."""

    def _definition(self, values: dict[str, Any]) -> dict[str, Any]:
        """Returns the keys that make the object; unknown ones are the customer's and stay."""
        return {
            key: value
            for key, value in values.items()
            if value is not None and key not in SERVICE_KEYS and key != "metadata"
        }
