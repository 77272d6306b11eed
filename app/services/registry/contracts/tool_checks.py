"""Runs the checks of a contract test in their order, each within the remaining time."""

from collections.abc import Awaitable, Callable

from app.domain.tools.contract import CheckResult
from app.services.registry.contracts.contract_tests import TIME_OVER, signature_check
from app.services.registry.contracts.tool_contract import ContractTest
from app.services.registry.contracts.tool_latency import latency


async def run_checks(test: ContractTest) -> list[CheckResult]:
    """Runs and returns every check; checks that could not be made are `skipped`."""
    shape, alive = await test.shape()
    checks = [shape]
    checks_by_name: dict[str, Callable[[], Awaitable[CheckResult]]] = {
        "malformed_arguments": test.malformed_arguments,
        "unknown_tool": test.unknown_tool,
        "idempotency": test.idempotency,
        "latency": lambda: latency(test),
    }
    for name, check in checks_by_name.items():
        if not alive:
            checks.append(CheckResult(name, "skipped", "The first call had no answer."))
        elif test.remaining_s < 1:
            checks.append(CheckResult(name, "skipped", TIME_OVER))
        else:
            checks.append(await check())
    checks.append(await test.large_request())
    return [*checks, test.large_reply(), signature_check(test.egress.exchanges)]
