"""Asks each address of a create call once, before a job exists.

Owns the limits of these probes, and which answer counts as there. Must not know the rest of a call.
"""

import asyncio
from typing import Any, Final

from app.domain.errors import EndpointRefused
from app.domain.faults.issues import PreflightIssue
from app.domain.jobs.creation.preflight import EndpointCheck
from app.gateways.egress.egress import Egress, EgressFailure
from app.gateways.egress.headers import check_headers
from app.preflight.addresses import CalledAddress, called_addresses
from app.services.jobs.preflight.environment_probe import NOT_FOUND, EnvironmentProbe

_PROBE_TIMEOUT_S: Final = 10.0
_PROBES: Final = 8
MAX_ADDRESSES: Final = 128
"""Limit for one call, so that the service cannot be used to scan addresses."""
_SERVER_FAULT: Final = 500
_NOT_IMPLEMENTED: Final = 501
"""Status of many servers for an unsupported method, such as the probe's HEAD."""
_UNCALLED: Final = "not asked: the formula does not use this part"


class EndpointProbes:
    def __init__(self, egress: Egress, environments: EnvironmentProbe) -> None:
        self._egress = egress
        self._environments = environments

    async def ask(
        self, called: list[CalledAddress]
    ) -> list[tuple[EndpointCheck, list[PreflightIssue]]]:
        slots = asyncio.Semaphore(_PROBES)

        async def check(address: CalledAddress) -> tuple[EndpointCheck, list[PreflightIssue]]:
            async with slots:
                return await self._probe(address)

        return await asyncio.gather(*(check(address) for address in called))

    async def _probe(self, called: CalledAddress) -> tuple[EndpointCheck, list[PreflightIssue]]:
        def missed(
            code: str, detail: str, *, param: str = called.param
        ) -> tuple[EndpointCheck, list[PreflightIssue]]:
            check = EndpointCheck(called.param, called.name, False, None, None, detail)
            message = f"{called.name}: {detail}"
            return check, [PreflightIssue("error", code, message, param)]

        try:
            check_headers(called.headers)
        except EndpointRefused as error:
            headers = f"{called.param.rpartition('.')[0]}.headers"
            return missed("endpoint_not_allowed", str(error), param=headers)
        try:
            await self._egress.check_url(called.url)
            if not called.is_used:
                return EndpointCheck(called.param, called.name, False, None, None, _UNCALLED), []
            reply = await self._egress.probe(
                called.url, headers=called.headers, timeout_s=_PROBE_TIMEOUT_S
            )
        except EndpointRefused as error:
            return missed("endpoint_not_allowed", str(error))
        except EgressFailure as error:
            return missed("endpoint_unreachable", str(error))
        check = EndpointCheck(
            called.param, called.name, True, reply.status, round(1000 * reply.latency_s, 1), None
        )
        # A server that takes only POST answers HEAD with a 4xx or a 501: it is there, which is the
        # question.
        if reply.status < _SERVER_FAULT or reply.status == _NOT_IMPLEMENTED:
            return await self._begun(called, check)
        message = f"{called.name} answers {reply.status} to a HEAD request."
        return check, [PreflightIssue("warning", "endpoint_failing", message, called.param)]

    async def _begun(
        self, called: CalledAddress, check: EndpointCheck
    ) -> tuple[EndpointCheck, list[PreflightIssue]]:
        issue = await self._environments.tried(called)
        if issue is None:
            return check, []
        if issue.code == NOT_FOUND:
            check = EndpointCheck(called.param, called.name, False, None, None, issue.message)
        return check, [issue]


def first_addresses(method: dict[str, Any], issues: list[PreflightIssue]) -> list[CalledAddress]:
    """Returns the first addresses of the call, and adds an issue if there are more."""
    addresses = called_addresses(method)
    if len(addresses) > MAX_ADDRESSES:
        message = f"Only the first {MAX_ADDRESSES} addresses were probed."
        issues.append(
            PreflightIssue("warning", "endpoints_not_probed", message, "method.reinforcement")
        )
    return addresses[:MAX_ADDRESSES]
