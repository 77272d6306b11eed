"""The checks of a contract test, in their order, each within the time that is left."""

from collections.abc import Awaitable, Callable
from typing import Final

from app.domain.tools.contract import Check
from app.services.registry.tool_contract import ContractTest
from app.services.registry.tool_latency import latency

CALL_TIMEOUT_S: Final = 10.0
"""Timeout of one call; training waits longer, a test must end."""


async def run_checks(test: ContractTest) -> list[Check]:
    """Runs every check and returns them, those that could not be made as `skipped`."""
    shape, alive = await test.shape()
    checks = [shape]
    asking: dict[str, Callable[[], Awaitable[Check]]] = {
        "malformed_arguments": test.malformed_arguments,
        "unknown_tool": test.unknown_tool,
        "idempotency": test.idempotency,
        "latency": lambda: latency(test),
    }
    for name, ask in asking.items():
        if not alive:
            checks.append(Check(name, "skipped", "The first call had no answer."))
        elif test.remaining_s < 1:
            checks.append(Check(name, "skipped", "The time of the test was over."))
        else:
            checks.append(await ask())
    checks.append(await test.large_request())
    return [*checks, test.large_reply(), test.signature()]
