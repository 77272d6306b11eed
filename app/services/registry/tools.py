"""Registered tools: definitions that jobs refer to, and the contract test of their endpoints."""

import time
from collections.abc import Iterable
from typing import Any, ClassVar, Final

from pydantic import BaseModel, TypeAdapter
from typing_extensions import override

from app.domain.accounts.tenants import Tenant
from app.domain.errors import InvalidRequest
from app.domain.registry.registered_objects import SERVICE_KEYS, LabelChanges, Noun, Registered
from app.domain.secrets.urls import shown_url
from app.domain.tools.contract import MAX_PACED_S, CallPlan, ContractReport
from app.domain.tools.rates import KEY, rate_fault, sent_rate
from app.domain.tools.served_tools import label_fault, refuse_served
from app.domain.tools.tools import LABEL, ToolSpec
from app.domain.unknown_keys import UnreadKey
from app.services.models.judge_models import JudgeModels
from app.services.project_slots import ProjectSlots
from app.services.registry.contract_tests import CALL_TIMEOUT_S
from app.services.registry.definition_check import check_definition, read_definition
from app.services.registry.registered_objects import RegistryPorts, RegistryService
from app.services.registry.tool_checks import run_checks
from app.services.registry.tool_contract import ContractTest
from app.store.database import Database

_ADAPTER: Final = TypeAdapter(ToolSpec)
_REQUIRED: Final = ("name", "server_url")
MAX_TESTS: Final = 2
"""Tests of one project at the same time. Each sends up to 50 calls a second to an address of the
customer's choice; a hundred of them would be an attack on that address.
"""
_RETRY_AFTER_S: Final = 10.0


def tool_test_slots() -> ProjectSlots:
    return ProjectSlots(MAX_TESTS, noun="tool tests", retry_after_s=_RETRY_AFTER_S)


class ToolService(RegistryService):
    noun: ClassVar[Noun] = Noun.TOOL
    models: ClassVar[tuple[type[BaseModel], ...]] = (ToolSpec,)

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
        """`values`: the tool as sent, `metadata` included. Raises `InvalidRequest`."""
        definition = _definition(values)
        return await self._insert(definition["name"], definition, metadata=values.get("metadata"))

    async def create_all(
        self, definitions: Iterable[dict[str, Any]], *, metadata: dict[str, str] | None
    ) -> list[Registered]:
        """Registers tools, all or none. Raises `InvalidRequest`, also for a name that is taken."""
        new = [await self._new(one["name"], one, metadata=metadata) for one in definitions]
        return await self._insert_all(new)

    async def update(self, tool_id: str, changes: dict[str, Any]) -> Registered:
        """Inserts a new version: keys that are not sent stay, a null removes an optional one.

        With an URL the redacted definition is the start: a secret moves to no other address.
        So it is when the earlier secrets are lost: what is not sent anew is refused by name.
        """
        before = await self.get(tool_id)
        kept = {k: v for k, v in changes.items() if k not in _REQUIRED or v is not None}
        earlier = {} if "server_url" in kept else await self._earlier(before)
        earlier = earlier or before.definition
        definition = _definition({**earlier, **kept})
        labels = LabelChanges(definition["name"], changes.get("metadata"), "metadata" in changes)
        return await self._append(before, definition, labels)

    @override
    async def _check(self, definition: dict[str, Any]) -> tuple[UnreadKey, ...]:
        self._validate(definition)
        tool = read_definition(_ADAPTER, definition, self.root)
        return await check_definition(tool, "", egress=self._ports.egress, models=self._models)

    @override
    def _validate(self, definition: dict[str, Any]) -> None:
        tool = read_definition(_ADAPTER, definition, self.root)
        sent = tool.model_extra or {}
        fault = rate_fault(sent_rate(tool), KEY) or label_fault(sent.get(LABEL), LABEL)
        if fault is not None:
            raise fault

    async def test(self, tool_id: str, plan: CallPlan) -> ContractReport:
        """Calls the tool's endpoint. Raises `InvalidRequest` for a plan that would not end,
        `RateLimited` while others of the project run.
        """
        if plan.requests / plan.rate > MAX_PACED_S:
            raise InvalidRequest(
                f"{plan.requests} requests at {plan.rate:g} per second take longer than "
                f"{MAX_PACED_S:g} s.",
                param="rate",
                code="invalid_value",
            )
        registered = await self.get(tool_id)
        tool = _ADAPTER.validate_python(await self.usable(registered))
        refuse_served(tool, address=shown_url(tool.server_url))
        test = ContractTest(
            self._ports.egress,
            tool,
            plan,
            secret_keys=self._secret_keys,
            project_id=self._tenant.project_id,
            call_timeout_s=min(CALL_TIMEOUT_S, self._call_timeout_s),
        )
        created_at, started = int(time.time()), time.monotonic()
        with self._slots.taken(self._tenant.project_id):
            checks = await run_checks(test)
        return ContractReport(
            tool_id=registered.id,
            version=registered.version,
            name=tool.name,
            server_url=shown_url(tool.server_url),
            created_at=created_at,
            duration_ms=round(1000 * (time.monotonic() - started), 1),
            calls=len(test.egress.exchanges),
            checks=tuple(checks),
        )


def _definition(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the keys that make the tool; unknown ones are the customer's and stay."""
    return {
        key: value
        for key, value in values.items()
        if value is not None and key not in SERVICE_KEYS and key != "metadata"
    }
