"""Registered tools and environments, and tools that are saved from an MCP server."""

import asyncio
import time
from collections.abc import Iterable
from typing import Any, ClassVar, Final

from pydantic import BaseModel, TypeAdapter
from typing_extensions import override

from app.files.conversations import conversation_faults
from app.files.shape_faults import invalid_schema
from app.kit.errors import InvalidRequest
from app.kit.faults import UnreadKey
from app.kit.json_schemas import function_schema_fault
from app.kit.redaction import shown_url
from app.kit.slots import RETRY_LONG_WORK_AFTER_S, ProjectSlots
from app.tools.contracts import CALL_TIMEOUT_S, MAX_PACED_S, passed
from app.tools.definition_check import RegisteredEndpointService, check_definition, read_definition
from app.tools.environment_contract import EnvironmentTest
from app.tools.environment_options import HttpEnvironmentSpec
from app.tools.environments import is_built_in_name
from app.tools.mcp_contract import McpContractService
from app.tools.mcp_listings import label_fault, refuse_served, served_tools
from app.tools.mcp_servers import McpServerSpec
from app.tools.registry import Noun, RegisteredVersion
from app.tools.schemas import (
    EnvironmentCheck,
    EnvironmentTestResult,
    RunEnvironmentTest,
    RunToolTest,
    ToolCheck,
    ToolTest,
)
from app.tools.tool_contract import ContractTest, run_checks
from app.tools.tools import KEY, LABEL, ToolSpec, rate_fault, sent_rate

_ADAPTER: Final = TypeAdapter(ToolSpec)
MAX_TESTS: Final = 2
"""Tests of one project at the same time: a hundred, each of 50 calls a second, would be an attack.
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
        new = [await self._new(one["name"], one, metadata=metadata) for one in definitions]
        return await self._insert_all(new)

    @override
    async def _check(self, definition: dict[str, Any]) -> tuple[UnreadKey, ...]:
        await asyncio.to_thread(self._validate, definition)
        tool = await asyncio.to_thread(read_definition, _ADAPTER, definition, self.root)
        schema = definition.get("parameters")
        if schema is not None and LABEL not in definition:  # an MCP server's is not the customer's
            found = await asyncio.to_thread(function_schema_fault, schema)
            if found is not None:
                raise invalid_schema(("parameters",), *found, name=tool.name)
        return await check_definition(tool, "", egress=self._ports.egress, models=self._models)

    @override
    def _validate(self, definition: dict[str, Any]) -> None:
        tool = read_definition(_ADAPTER, definition, self.root)
        sent = tool.model_extra or {}
        fault = rate_fault(sent_rate(tool), KEY) or label_fault(sent.get(LABEL), LABEL)
        if fault is not None:
            raise fault

    async def test(self, tool_id: str, plan: RunToolTest) -> ToolTest:
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
        return ToolTest(
            tool_id=registered.id,
            version=registered.version,
            name=tool.name,
            server_url=shown_url(tool.server_url),
            created_at=created_at,
            duration_ms=round(1000 * (time.monotonic() - started), 1),
            calls=len(test.egress.exchanges),
            passed=passed(checks),
            checks=list(map(ToolCheck.of, checks)),
        )


class McpImportService:
    def __init__(self, servers: McpContractService, tools: ToolService) -> None:
        self._servers = servers
        self._tools = tools

    async def save(
        self, server: McpServerSpec, *, metadata: dict[str, str] | None
    ) -> list[RegisteredVersion]:
        listing = await self._servers.listing(server)
        return await self._tools.create_all(served_tools(server, listing), metadata=metadata)


_ADAPTER_ENVIRONMENTS: Final = TypeAdapter(HttpEnvironmentSpec)


ENVIRONMENT_MAX_TESTS: Final = 4
"""Tests of one project at the same time; each makes four calls."""


def environment_test_slots() -> ProjectSlots:
    return ProjectSlots(
        ENVIRONMENT_MAX_TESTS, noun="environment tests", retry_after_s=RETRY_LONG_WORK_AFTER_S
    )


class EnvironmentService(RegisteredEndpointService):
    noun: ClassVar[Noun] = Noun.ENVIRONMENT
    models: ClassVar[tuple[type[BaseModel], ...]] = (HttpEnvironmentSpec,)
    url_key: ClassVar[str] = "url"

    @override
    def _definition(self, values: dict[str, Any]) -> dict[str, Any]:
        return {"type": "http", **super()._definition(values)}

    @override
    def _check_name(self, name: str) -> None:
        """A job would get the built-in one."""
        if is_built_in_name(name):
            raise InvalidRequest(
                f"'{name}' is the name of a built-in environment.", param="name", code="name_taken"
            )

    @override
    async def _check(self, definition: dict[str, Any]) -> tuple[UnreadKey, ...]:
        environment = await asyncio.to_thread(
            read_definition, _ADAPTER_ENVIRONMENTS, definition, self.root
        )
        return await check_definition(
            environment, "", egress=self._ports.egress, models=self._models
        )

    @override
    def _validate(self, definition: dict[str, Any]) -> None:
        read_definition(_ADAPTER_ENVIRONMENTS, definition, self.root)

    async def test(self, environment_id: str, plan: RunEnvironmentTest) -> EnvironmentTestResult:
        _check_messages(plan.task or {})
        registered = await self.get(environment_id)
        environment = _ADAPTER_ENVIRONMENTS.validate_python(await self.usable(registered))
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
        return EnvironmentTestResult(
            environment_id=registered.id,
            version=registered.version,
            name=environment.name,
            url=shown_url(environment.url),
            created_at=created_at,
            duration_ms=round(1000 * (time.monotonic() - started), 1),
            passed=passed(checks),
            checks=list(map(EnvironmentCheck.of, checks)),
            exchanges=test.exchanges,
        )


def _check_messages(task: dict[str, Any]) -> None:
    if "messages" in task:
        for fault in conversation_faults(task["messages"], ("task", "messages")):
            raise fault
