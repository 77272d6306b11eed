"""Probes that hang, and doubts that nothing confirms: neither keeps calls from a server that is
there.
"""

from collections import Counter

from app.kit.egress import EgressReply
from app.kit.endpoint_limits import NO_SERVER_PATIENCE_S, PROBE_S, Breaker, OutagePatience
from app.kit.endpoints import Absence, EndpointAnswer, EndpointFault, GaveUp
from tests.support.egress.clock import VirtualClock
from tests.support.egress.timed_egress import OK, call_many, down, make

KNOWN = OutagePatience(is_known=True)
FOR_EVER = 1e9
BACK_AT = 8


async def test_a_hung_probe_keeps_no_call_from_a_server_that_is_back() -> None:
    taken = list[float]()

    def serve(now: float, _: int) -> tuple[EgressReply, float]:
        if now < BACK_AT:
            return down()
        taken.append(now)
        return OK, FOR_EVER if len(taken) == 1 else 0.5

    async with VirtualClock().running() as clock:
        endpoint, _ = make(clock, serve, outages=KNOWN)
        results = await call_many(endpoint, 40)
    answered = sum(isinstance(result, EndpointAnswer) for result in results)
    assert answered == 39, "all but the call that hangs"
    assert taken[1] == taken[0] + PROBE_S
    assert max(taken) < taken[1] + 30


async def test_a_probe_without_an_answer_is_no_sign_of_life() -> None:
    def serve(now: float, _: int) -> tuple[EgressReply, float]:
        return down() if now < BACK_AT else (OK, FOR_EVER)

    async with VirtualClock().running() as clock:
        endpoint, egress = make(clock, serve, outages=KNOWN)
        results = await call_many(endpoint, 40)
    faults = [result for result in results if isinstance(result, EndpointFault)]
    assert len(faults) == 40
    said = Counter("down" if isinstance(fault, GaveUp) else fault.message for fault in faults)
    hung = sum(at >= BACK_AT for at in egress.sent_at)
    assert hung <= 600 / PROBE_S, "one probe at a time, and none at the end of the time"
    assert said == {"no reply": hung, "down": 40 - hung}


async def test_each_doubt_that_nothing_confirms_halves_the_wait_for_the_next() -> None:
    """A server that a tool ends for some requests, and that is there for all others."""
    async with VirtualClock().running() as clock:
        breaker, waits = Breaker(clock, patience_s=600), list[float]()
        for turn in range(6):
            for name in "ab":
                call_id = f"{name}{turn}"
                breaker.failed(call_id, counts=True, absence=Absence.OF_SERVER, enough=2)
            began = clock.now()
            while breaker.is_open:
                assert await breaker.wait_to_send(f"c{turn}", deadline=10_000)
                if breaker.is_open:
                    breaker.failed(f"c{turn}", counts=False, absence=Absence.OF_SERVER, enough=2)
            waits.append(clock.now() - began)
            for name in "abc":
                breaker.ended(f"{name}{turn}")
            breaker.answered()
            await clock.sleep(1)
    assert waits == [NO_SERVER_PATIENCE_S / 2**turn for turn in range(6)]
