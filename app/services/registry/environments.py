"""Registered HTTP environments: definitions that jobs refer to, and the test of their endpoints."""

import time
from typing import Any, ClassVar, Final

from pydantic import BaseModel, TypeAdapter
from typing_extensions import override

from app.domain.accounts.tenants import Tenant
from app.domain.data.chat_rows import messages_faults
from app.domain.documents.pointers import parameter
from app.domain.environments.contract import EnvironmentPlan, EnvironmentReport
from app.domain.environments.environments import is_built_in_name
from app.domain.environments.http import HttpEnvironmentSpec
from app.domain.errors import InvalidRequest
from app.domain.registry.registered_objects import SERVICE_KEYS, LabelChanges, Noun, Registered
from app.domain.secrets.urls import shown_url
from app.domain.unknown_keys import UnreadKey
from app.services.models.judge_models import JudgeModels
from app.services.project_slots import ProjectSlots
from app.services.registry.contract_tests import CALL_TIMEOUT_S
from app.services.registry.definition_check import check_definition, read_definition
from app.services.registry.environment_contract import EnvironmentTest
from app.services.registry.registered_objects import RegistryPorts, RegistryService
from app.store.database import Database

_ADAPTER: Final = TypeAdapter(HttpEnvironmentSpec)


MAX_TESTS: Final = 4
"""Tests of one project at the same time; each makes four calls."""
_RETRY_AFTER_S: Final = 10.0


def environment_test_slots() -> ProjectSlots:
    return ProjectSlots(MAX_TESTS, noun="environment tests", retry_after_s=_RETRY_AFTER_S)


class EnvironmentService(RegistryService):
    noun: ClassVar[Noun] = Noun.ENVIRONMENT
    models: ClassVar[tuple[type[BaseModel], ...]] = (HttpEnvironmentSpec,)

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
        """`secret_keys` are the service's, from which calls are signed; `slots` the process's."""
        super().__init__(database, ports, tenant)
        self._models = models
        self._secret_keys = secret_keys
        self._call_timeout_s = call_timeout_s
        self._slots = slots

    async def create(self, values: dict[str, Any]) -> Registered:
        """`values`: the environment as sent, `metadata` included. Raises `InvalidRequest`."""
        definition = _definition(values)
        _check_name(definition["name"])
        return await self._insert(definition["name"], definition, metadata=values.get("metadata"))

    async def update(self, environment_id: str, changes: dict[str, Any]) -> Registered:
        """Inserts a new version: keys that are not sent stay, a null removes an optional one.

        With a URL the redacted definition is the start: a secret moves to no other address.
        """
        before = await self.get(environment_id)
        kept = {k: v for k, v in changes.items() if k not in ("name", "url") or v is not None}
        earlier = {} if "url" in kept else await self._earlier(before)
        definition = _definition({**(earlier or before.definition), **kept})
        if definition["name"] != before.name:
            _check_name(definition["name"])
        labels = LabelChanges(definition["name"], changes.get("metadata"), "metadata" in changes)
        return await self._append(before, definition, labels)

    @override
    async def _check(self, definition: dict[str, Any]) -> tuple[UnreadKey, ...]:
        environment = read_definition(_ADAPTER, definition, self.root)
        return await check_definition(
            environment, "", egress=self._ports.egress, models=self._models
        )

    @override
    def _validate(self, definition: dict[str, Any]) -> None:
        read_definition(_ADAPTER, definition, self.root)

    async def test(self, environment_id: str, plan: EnvironmentPlan) -> EnvironmentReport:
        """Plays an episode of one turn with the customer's environment. Raises `RateLimited` while
        other tests of the project run, and `InvalidRequest` for messages that no row may have.
        """
        _check_messages(plan.task)
        registered = await self.get(environment_id)
        environment = _ADAPTER.validate_python(await self.usable(registered))
        test = EnvironmentTest(
            self._ports.egress,
            environment,
            plan,
            secret_keys=self._secret_keys,
            project_id=self._tenant.project_id,
            call_timeout_s=min(CALL_TIMEOUT_S, self._call_timeout_s),
        )
        created_at, started = int(time.time()), time.monotonic()
        with self._slots.taken(self._tenant.project_id):
            checks = await test.run()
        return EnvironmentReport(
            environment_id=registered.id,
            version=registered.version,
            name=environment.name,
            url=shown_url(environment.url),
            created_at=created_at,
            duration_ms=round(1000 * (time.monotonic() - started), 1),
            exchanges=tuple(test.exchanges),
            checks=tuple(checks),
        )


def _check_name(name: str) -> None:
    """Raises `InvalidRequest` for the name of a built-in environment, which a job would get."""
    if is_built_in_name(name):
        raise InvalidRequest(
            f"'{name}' is the name of a built-in environment.", param="name", code="name_taken"
        )


def _check_messages(task: dict[str, Any]) -> None:
    if "messages" not in task:
        return
    for pointer, fault in messages_faults(task["messages"], "task/messages"):
        path = tuple(int(part) if part.isdigit() else part for part in pointer.split("/"))
        place = parameter("", path)
        raise InvalidRequest(f"'{place}' {fault}.", param=place, code="invalid_value")


def _definition(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the keys that make the environment."""
    sent = {
        key: value
        for key, value in values.items()
        if value is not None and key not in SERVICE_KEYS and key != "metadata"
    }
    return {"type": "http", **sent}
