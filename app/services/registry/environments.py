"""Registered HTTP environments: definitions that jobs refer to, and the test of their endpoints."""

import asyncio
import time
from typing import Any, ClassVar, Final

from pydantic import BaseModel, TypeAdapter
from typing_extensions import override

from app.domain.data.chat_rows import messages_faults
from app.domain.documents.pointers import parameter
from app.domain.environments.contract import EnvironmentPlan, EnvironmentReport
from app.domain.environments.environments import is_built_in_name
from app.domain.environments.http import HttpEnvironmentSpec
from app.domain.errors import InvalidRequest
from app.domain.faults.unknown_keys import UnreadKey
from app.domain.registry.registered_objects import Noun
from app.domain.secrets.urls import shown_url
from app.services.registry.contracts.contract_tests import CALL_TIMEOUT_S
from app.services.registry.contracts.environment_contract import EnvironmentTest
from app.services.registry.definition_check import check_definition, read_definition
from app.services.registry.registered_endpoints import RegisteredEndpointService
from app.slots.project_slots import RETRY_LONG_WORK_AFTER_S, ProjectSlots

_ADAPTER: Final = TypeAdapter(HttpEnvironmentSpec)


MAX_TESTS: Final = 4
"""Tests of one project at the same time; each makes four calls."""


def environment_test_slots() -> ProjectSlots:
    return ProjectSlots(MAX_TESTS, noun="environment tests", retry_after_s=RETRY_LONG_WORK_AFTER_S)


class EnvironmentService(RegisteredEndpointService):
    noun: ClassVar[Noun] = Noun.ENVIRONMENT
    models: ClassVar[tuple[type[BaseModel], ...]] = (HttpEnvironmentSpec,)
    url_key: ClassVar[str] = "url"

    @override
    def _definition(self, values: dict[str, Any]) -> dict[str, Any]:
        return {"type": "http", **super()._definition(values)}

    @override
    def _check_name(self, name: str) -> None:
        """Raises `InvalidRequest` for the name of a built-in environment, which a job would get."""
        if is_built_in_name(name):
            raise InvalidRequest(
                f"'{name}' is the name of a built-in environment.", param="name", code="name_taken"
            )

    @override
    async def _check(self, definition: dict[str, Any]) -> tuple[UnreadKey, ...]:
        environment = await asyncio.to_thread(read_definition, _ADAPTER, definition, self.root)
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
        param = parameter("", path)
        raise InvalidRequest(f"'{param}' {fault}.", param=param, code="invalid_value")
