"""The words of faults: they are stored with jobs and rollouts, shown and logged."""

import pytest

from app.kit.egress import EgressReply
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import EndpointFault, EndpointRequest, FaultKind
from app.tools.environment_calls import read_reset
from tests.support.cases import cases
from tests.support.egress.clock import VirtualClock
from tests.support.egress.timed_egress import OK, SIGNER, TimedEgress

CANARY = "CANARYF-7f3a9b2c1d5e8f60"


@cases("repeated", [CANARY])
async def test_a_fault_repeats_no_credential_of_its_request(repeated: str) -> None:
    def read(_: EgressReply) -> str:
        raise EndpointFault(FaultKind.BAD_REPLY, f"there is no '{repeated}'")

    clock = VirtualClock()
    egress = TimedEgress(clock, lambda *_: (OK, 0.1))
    pool = EndpointPool(egress, timeout_s=60, max_retries=1, clock=clock)
    headers = {"Authorization": f"Bearer {CANARY}"}
    request = EndpointRequest(headers, b"{}", "call_1", "trace_1")
    async with clock.running():
        with pytest.raises(EndpointFault) as caught:
            await pool.endpoint("https://tool.example/").call(request, read, signer=SIGNER)
    assert str(caught.value) == caught.value.message == "there is no '[redacted]'"
    assert (caught.value.kind, caught.value.attempts) == (FaultKind.BAD_REPLY, 2)


def test_a_fault_of_an_environment_names_no_tool_of_the_answer() -> None:
    tool = b'{"type": "function", "function": {"name": "CANARYF_7f3a9b2c1d5e8f60"}}'
    body = b'{"episode_id": "e", "messages": [], "tools": [%s, %s]}' % (tool, tool)
    user = {"role": "user", "content": "hi"}
    with pytest.raises(EndpointFault) as caught:
        read_reset(EgressReply(200, {}, body, 0.1), before=[user])
    assert str(caught.value) == (
        "`tools[1].function.name`: 'tools[0]' has the same name: one tool is listed twice"
    )
