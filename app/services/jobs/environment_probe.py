"""Tells a wrong path of an HTTP environment from a server that takes POST alone.

A server may answer HEAD with 404 where it takes POST. Only then an episode is begun, and closed
at once: a path that takes no `reset` would lose every rollout. Must not know how a report is made.
"""

from functools import partial
from typing import Final

from app.domain.environments.environments import PARAM
from app.domain.ids import new_id
from app.gateways.egress.egress import Egress
from app.gateways.endpoints.environment_calls import (
    EnvironmentCall,
    Refused,
    close_body,
    read_close,
    read_reset,
    reset_body,
)
from app.gateways.endpoints.pool import EndpointFault, EndpointPool
from app.gateways.endpoints.signing import CallSigner
from app.preflight.call import CalledAddress

NOT_FOUND: Final = "environment_not_found"
_DOUBTFUL: Final = frozenset({404, 410})
_MISSING: Final = frozenset({404, 405, 410})
_TASK: Final = {"messages": [{"role": "user", "content": "This is a test."}]}
_TIMEOUT_S: Final = 10.0


class EnvironmentProbe:
    def __init__(self, egress: Egress, signer: CallSigner) -> None:
        self._egress = egress
        self._signer = signer

    async def missing(self, called: CalledAddress, head: int) -> str | None:
        """Returns the fault of an address that answered HEAD with the status `head`; `None` for an
        address of anything else, and for one that takes a `reset`.
        """
        if called.param != f"{PARAM}.url" or head not in _DOUBTFUL:
            return None
        endpoint = EndpointPool(self._egress, timeout_s=_TIMEOUT_S, max_retries=0).endpoint(
            called.url
        )
        rollout_id = new_id("trace_")
        reset = EnvironmentCall(
            reset_body(rollout_id, _TASK, seed=0), new_id("episode_"), rollout_id
        )
        read = partial(read_reset, before=_TASK["messages"])
        try:
            begun = await endpoint.call(reset.request(called.headers), read, signer=self._signer)
        except Refused as refused:
            if refused.status not in _MISSING:
                return None
            return (
                f"answers {refused.status} to 'reset', so that every rollout would be lost; check "
                "the path of its address"
            )
        except EndpointFault:
            return None  # the path is there
        body = close_body(rollout_id, begun.value.episode_id, done=False)
        close = EnvironmentCall(body, new_id("episode_"), rollout_id)
        try:
            await endpoint.call(close.request(called.headers), read_close, signer=self._signer)
        except EndpointFault:
            return None  # its answer changes nothing
        return None
