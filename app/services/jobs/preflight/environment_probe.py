"""Probes the address of an HTTP environment with an episode, which is closed at once.

HEAD is not a test of the path: any page answers it, and a server that only accepts POST refuses it.
A path without `reset` would lose every rollout. Must not know how a report is built.
"""

import asyncio
from functools import partial
from typing import Final

from app.domain.environments.environments import PARAM
from app.domain.faults.issues import PreflightIssue
from app.domain.http.status import is_client_error
from app.domain.ids import new_id
from app.gateways.egress.egress import Egress
from app.gateways.endpoints.calls import EndpointFault
from app.gateways.endpoints.environment_calls import (
    CallRefused,
    EnvironmentCall,
    close_body,
    may_have_begun,
    read_close,
    read_reset,
    reset_body,
)
from app.gateways.endpoints.pool import EndpointPool
from app.gateways.endpoints.signing import CallSigner
from app.preflight.addresses import CalledAddress

NOT_FOUND: Final = "environment_not_found"
REFUSES: Final = "environment_refuses"
_MISSING: Final = frozenset({404, 405, 410})
_TASK: Final = {"messages": [{"role": "user", "content": "This is a test."}]}
_TIMEOUT_S: Final = 10.0
_CLOSE_LIMIT_S: Final = 5.0


class EnvironmentProbe:
    def __init__(self, egress: Egress, signer: CallSigner) -> None:
        self._egress = egress
        self._signer = signer

    async def tried(self, called: CalledAddress) -> PreflightIssue | None:
        """Returns an error for an environment without `reset` at its address, a warning for one
        that refuses the test's `reset`, and `None` for one that accepts it and for every other
        address.
        """
        if called.param != f"{PARAM}.url":
            return None
        endpoint = EndpointPool(self._egress, timeout_s=_TIMEOUT_S, max_retries=0).endpoint(
            called.url
        )
        rollout_id = new_id("trace_")
        reset = EnvironmentCall(
            reset_body(rollout_id, _TASK, seed=0), new_id("episode_"), rollout_id
        )
        read = partial(read_reset, before=_TASK["messages"])
        episode_id: str | None
        try:
            begun = await endpoint.call(reset.request(called.headers), read, signer=self._signer)
            episode_id = begun.value.episode_id
        except CallRefused as refused:
            return _issue(called, refused.status)
        except EndpointFault as fault:  # the path is there
            if not may_have_begun(fault):
                return None
            episode_id = None
        body = close_body(rollout_id, episode_id, done=False)
        close = EnvironmentCall(body, new_id("episode_"), rollout_id)
        try:
            async with asyncio.timeout(_CLOSE_LIMIT_S):
                await endpoint.call(close.request(called.headers), read_close, signer=self._signer)
        except (EndpointFault, TimeoutError):
            return None  # its answer changes nothing
        return None


def _issue(called: CalledAddress, status: int) -> PreflightIssue | None:
    if status in _MISSING:
        message = (
            f"{called.name}: answers {status} to 'reset', so that every rollout would be lost; "
            "check the path of its address"
        )
        return PreflightIssue("error", NOT_FOUND, message, called.param)
    if not is_client_error(status):
        return None
    message = (
        f"{called.name}: answers {status} to the 'reset' of a test. A job whose rows it refuses "
        "too loses every rollout: check its path and headers, or try one of its tasks with "
        "POST /v1/environments/{id}/test."
    )
    return PreflightIssue("warning", REFUSES, message, called.param)
