"""Registered tools: definitions that jobs refer to, and the contract test of their endpoints."""

import asyncio
import time
from collections.abc import Iterable
from typing import Any, ClassVar, Final

from pydantic import BaseModel, TypeAdapter
from typing_extensions import override

from app.domain.errors import InvalidRequest
from app.domain.faults.schemas import refuse_function_schema
from app.domain.faults.unknown_keys import UnreadKey
from app.domain.registry.registered_objects import Noun, RegisteredVersion
from app.domain.secrets.urls import shown_url
from app.domain.tools.contract import MAX_PACED_S, CallPlan, ContractReport
from app.domain.tools.rates import KEY, rate_fault, sent_rate
from app.domain.tools.served_tools import label_fault, refuse_served
from app.domain.tools.tools import LABEL, ToolSpec
from app.services.registry.contracts.contract_tests import CALL_TIMEOUT_S
from app.services.registry.contracts.tool_checks import run_checks
from app.services.registry.contracts.tool_contract import ContractTest
from app.services.registry.definition_check import check_definition, read_definition
from app.services.registry.registered_endpoints import RegisteredEndpointService
from app.slots.project_slots import RETRY_LONG_WORK_AFTER_S, ProjectSlots

_ADAPTER: Final = TypeAdapter(ToolSpec)
MAX_TESTS: Final = 2
"""Tests of one project at the same time. Each sends up to 50 calls a second to an address that the
customer chooses; a hundred tests would be an attack on that address.
"""


def tool_test_slots() -> ProjectSlots:
    return ProjectSlots(MAX_TESTS, noun="tool tests", retry_after_s=RETRY_LONG_WORK_AFTER_S)


class ToolService(RegisteredEndpointService):
    noun: ClassVar[Noun] = Noun.TOOL
    models: ClassVar[tuple[type[BaseModel], ...]] = (ToolSpec,)
    url_key: ClassVar[str] = "server_url"

    async def create_all(
        self, definitions: Iterable[dict[str, Any]], *, metadata: dict[str, str] | None
    ) -> list[RegisteredVersion]:
        """Registers tools, all or none. Raises `InvalidRequest`, also for a name that is taken."""
        new = [await self._new(one["name"], one, metadata=metadata) for one in definitions]
        return await self._insert_all(new)

    @override
    async def _check(self, definition: dict[str, Any]) -> tuple[UnreadKey, ...]:
        await asyncio.to_thread(self._validate, definition)
        tool = await asyncio.to_thread(read_definition, _ADAPTER, definition, self.root)
        schema = definition.get("parameters")
        if schema is not None and LABEL not in definition:  # an MCP server's is not the customer's
            await asyncio.to_thread(refuse_function_schema, schema, "parameters", tool.name)
        return await check_definition(tool, "", egress=self._ports.egress, models=self._models)

    @override
    def _validate(self, definition: dict[str, Any]) -> None:
        tool = read_definition(_ADAPTER, definition, self.root)
        sent = tool.model_extra or {}
        fault = rate_fault(sent_rate(tool), KEY) or label_fault(sent.get(LABEL), LABEL)
        if fault is not None:
            raise fault

    async def test(self, tool_id: str, plan: CallPlan) -> ContractReport:
        """Calls the tool's endpoint. Raises `InvalidRequest` for a plan that would take too long,
        `RateLimited` while other tests of the project run.
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
