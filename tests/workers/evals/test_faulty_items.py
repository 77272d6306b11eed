"""An item whose work meets an internal error is an error of its own, and a run whose every item is
one has failed.
"""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs
from typing_extensions import override

from app.kit.egress import Egress, EgressReply, EgressRequest
from app.kit.errors import InvalidRequest, Unavailable
from app.models.engine import Completion
from tests.support.endpoints import Reply
from tests.support.engines.in_memory import InMemoryInference
from tests.support.evals.criteria import RIGHT, WRONG, endpoint_grader
from tests.support.evals.world import ANSWER, QUESTION, World, exact, rows, sampled
from workers.evals import items as sampling
from workers.evals.child import work
from workers.processes.clients import Clients

FAULTS: list[BaseException] = [RuntimeError("planted"), asyncio.CancelledError("planted")]


class _Faulty(InMemoryInference):
    """Answers, and raises where it is asked about the item to fail."""

    def __init__(self, fault: BaseException, *, item: str = "fail") -> None:
        super().__init__(lambda *_: Completion((), (), "stop"))
        self._fault = fault
        self._item = item

    @override
    async def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        if self._item in str(body["messages"]):
            raise self._fault
        return {"choices": [{"message": {"role": "assistant", "content": ANSWER}}]}


class _FaultyEgress:
    """Implements `Egress` by another one, and raises for the item to fail."""

    def __init__(self, egress: Egress, fault: BaseException) -> None:
        self._egress = egress
        self._fault = fault

    async def send(self, request: EgressRequest) -> EgressReply:
        if b"fail" in request.body:
            raise self._fault
        return await self._egress.send(request)


@pytest.mark.parametrize("fault", FAULTS, ids=["raised", "cancelled"])
async def test_a_fault_of_one_sampling_is_an_error_of_its_item(
    world: World, fault: BaseException
) -> None:
    failing = {"question": "fail", "answer": "x"}
    path = await world.make(exact(), source=sampled(rows(RIGHT, failing, WRONG)))
    ports = replace(world.ports, inference=_Faulty(fault))
    with capture_logs([structlog.contextvars.merge_contextvars]) as logs:
        await work(ports, await world.claim(path))
    run = await world.get(path)
    assert (run["status"], run["error"]) == ("completed", None)
    assert run["result_counts"] == {"total": 3, "errored": 1, "failed": 1, "passed": 1}
    await _check_error(world, path)
    assert [(entry["item"], entry["sample"]) for entry in logs if entry.get("exc_info")] == [(1, 0)]


@pytest.mark.parametrize("fault", FAULTS, ids=["raised", "cancelled"])
async def test_a_fault_of_one_score_is_an_error_of_its_item(
    world: World, fault: BaseException
) -> None:
    world.grader.script = lambda _: Reply(json={"score": 1})
    source = {"type": "jsonl", "source": rows({"n": 0}, {"n": "fail"}, {"n": 2})}
    path = await world.make(endpoint_grader(world), source=source)
    egress: Any = _FaultyEgress(world.ports.egress, fault)
    await work(replace(world.ports, egress=egress), await world.claim(path))
    run = await world.get(path)
    assert (run["status"], run["error"]) == ("completed", None)
    assert run["result_counts"] == {"total": 3, "errored": 1, "failed": 0, "passed": 2}
    await _check_error(world, path)


async def test_an_item_whose_sampling_met_an_unavailable_engine_is_left_to_the_next_claim(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "PATIENCE_S", 0.0)
    path = await world.make(exact(), source=sampled(rows(RIGHT)))
    engine = _Faulty(Unavailable("planted"), item=QUESTION)
    await _check_left(world, path, replace(world.ports, inference=engine))


async def test_an_item_whose_score_met_an_unavailable_service_is_left_to_the_next_claim(
    world: World,
) -> None:
    world.grader.script = lambda _: Reply(json={"score": 1})
    source = {"type": "jsonl", "source": rows({"n": "fail"})}
    path = await world.make(endpoint_grader(world), source=source)
    egress: Any = _FaultyEgress(world.ports.egress, Unavailable("planted"))
    await _check_left(world, path, replace(world.ports, egress=egress))


async def _check_left(world: World, path: str, unavailable: Clients) -> None:
    """Checks that a claim with unavailable ports writes no item, and that the next one passes."""
    with pytest.raises(Unavailable):
        await work(unavailable, await world.claim(path, lease_s=-1))
    assert await world.items(path) == []
    run = await world.finish(path)
    assert (run["status"], run["error"]) == ("completed", None)
    assert run["result_counts"] == {"total": 1, "errored": 0, "failed": 0, "passed": 1}


async def _check_error(world: World, path: str) -> None:
    (item,) = await world.items(path, status="error")
    assert item["datasource_item_id"] == 1
    assert item["sample"]["error"]["code"] == "internal_error"
    assert "planted" not in item["sample"]["error"]["message"]


async def test_a_run_whose_every_item_is_an_error_has_failed(world: World) -> None:
    world.grader.script = lambda _: Reply(status=500)
    source = {"type": "jsonl", "source": rows({"n": 0}, {"n": 1})}
    run = await world.finish(await world.make(endpoint_grader(world), source=source))
    assert (run["status"], run["error"]["code"]) == ("failed", "all_items_errored")
    assert run["error"]["message"].startswith(
        "Nothing could be scored: each of 2 output items is an error. The first one: "
    )
    assert "answered 500" in run["error"]["message"]
    assert run["result_counts"] == {"total": 2, "errored": 2, "failed": 0, "passed": 0}


async def test_sampling_values_that_only_the_engine_refuses_fail_the_run(world: World) -> None:
    path = await world.make(exact(), source=sampled(rows({"question": "fail", "answer": "x"})))
    refusal = InvalidRequest("Invalid value for 'top_p': the engine has other bounds.")
    await work(replace(world.ports, inference=_Faulty(refusal)), await world.claim(path))
    run = await world.get(path)
    assert (run["status"], run["error"]["code"]) == ("failed", "all_items_errored")
    (item,) = await world.items(path)
    assert item["sample"]["error"]["message"] in run["error"]["message"]


async def test_a_claim_that_finds_only_errors_ends_the_run_as_failed(world: World) -> None:
    world.grader.script = lambda _: Reply(status=500)
    source = {"type": "jsonl", "source": rows({"n": 0}, {"n": 1})}
    path = await world.make(endpoint_grader(world), source=source)
    hanging = asyncio.Event()

    async def once(request: Any) -> Reply:
        if request.json["item"]["n"] > 0:
            await hanging.wait()
        return Reply(status=500)

    world.grader.script = once
    lease = await world.claim(path)
    killed = asyncio.create_task(work(world.ports, lease))
    await world.until_items(path, 1)
    killed.cancel()
    with pytest.raises(asyncio.CancelledError):
        await killed
    hanging.set()
    await work(world.ports, lease)
    run = await world.get(path)
    assert (run["status"], run["result_counts"]["errored"]) == ("failed", 2)
