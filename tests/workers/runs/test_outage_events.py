"""A job says which endpoint it waits for, and that it answers again: once each."""

import asyncio
import json
import re
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import Any

from app.jobs.jobs import Job, JobEvent, JobStatus
from app.kit.egress import EgressReply, EgressRequest
from app.kit.endpoint_pool import Endpoint, EndpointPool
from app.settings import Settings
from tests.support.egress.egress_clients import client_for
from tests.support.egress.timed_egress import call, down
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.patience import PATIENCE_S, until
from tests.support.runs.real_run import ROWS, RealRuns, Script
from tests.support.twins import InMemoryEgress
from workers.job_child import job_run
from workers.runs.context import OPERATORS, Activity, RunContext
from workers.runs.job import PAUSE_WAITS, OutageEvents

SAMPLES = 2
"""Rollouts of a held-out row."""
OPENS = 16
"""Calls whose failure opens the breaker; a training step has more."""
SECRETS = "?key=hidden-value"


def _about(events: list[JobEvent], reason: str) -> list[JobEvent]:
    return [one for one in events if one.data is not None and one.data.get("reason") == reason]


def _with_retries(settings: Settings) -> Settings:
    """Returns settings by which no call uses up its attempts before the sixteenth one has failed,
    on a busy machine too.
    """
    egress = settings.egress.model_copy(update={"max_retries": 10})
    return settings.model_copy(update={"egress": egress})


def _is_silent(called: Endpoint) -> bool:
    return called.state().outage is not None


async def test_a_stopped_endpoint_is_named_once_and_so_is_its_return(runs: RealRuns) -> None:
    script = Script(samples=SAMPLES)
    baseline = ROWS * SAMPLES

    def answer(received: ReceivedRequest) -> Reply:
        request = EgressRequest(received.path, received.headers, received.body, 0.0)
        return Reply(json=json.loads(script(request).body))

    async def answer_the_baseline(received: ReceivedRequest) -> Reply:
        if len(server.received) > baseline:
            await asyncio.Event().wait()  # the server stops meanwhile
        return answer(received)

    async with AsyncExitStack() as first, endpoint(lambda _: Reply()) as other:
        server = await first.enter_async_context(endpoint(answer_the_baseline))
        address = server.url("/grade")
        hyper = {"eval_samples": SAMPLES, "compute_multiplier": 0.5}
        grader = {"type": "endpoint", "name": "g", "url": address + SECRETS}
        job = await runs.job(grader=grader, hyperparameters=hyper)
        egress = client_for(server, other)
        async with runs.context(job, script) as context:
            patient = replace(context, egress=egress, settings=_with_retries(context.settings))
            running = asyncio.create_task(job_run(patient).run())
            await until(lambda: len(server.received) >= baseline + OPENS)
            await first.aclose()

            async def is_named() -> bool:
                return bool(_about(await runs.events(job), "endpoint_silent"))

            await until(is_named)
            assert (await runs.world.read(job)).status is JobStatus.RUNNING
            async with endpoint(answer, port=server.port):
                await asyncio.wait_for(running, PATIENCE_S)
        await egress.aclose()
    assert (await runs.world.read(job)).status is JobStatus.SUCCEEDED
    await _check_events(runs, job, f"127.0.0.1:{server.port}/grade")


async def _check_events(runs: RealRuns, job: Job, name: str) -> None:
    events = await runs.events(job)
    [silent], [answers] = _about(events, "endpoint_silent"), _about(events, "endpoint_answers")
    assert (silent.level, answers.level) == ("warn", "info")
    assert events.index(silent) < events.index(answers)
    data = silent.data or {}
    assert data["endpoint"] == name
    assert (answers.data or {})["endpoint"] == name
    assert 1 <= data["rollouts"] <= 5 * 4
    assert data["since"] < data["gives_up_at"] <= data["since"] + 600
    for words in (
        f"Waiting on endpoint: {name} has not answered since",
        f"{data['rollouts']} rollout",
        "loses 75% of its rollouts ends the job with the code endpoint_unavailable",
    ):
        assert words in silent.message
    assert re.search(r"\(last: (connection refused|the connection broke)\)", silent.message)
    assert "hidden-value" not in json.dumps([silent.message, silent.data, answers.message])
    discarded = await runs.curve(job, "discarded/count")
    assert set(discarded.values()) <= {0.0}


async def test_endpoints_of_one_shown_name_are_one() -> None:
    def answer(request: EgressRequest) -> EgressReply:
        if request.url.endswith("=a"):
            down()
        return EgressReply(200, {}, b"ok", 0.0)

    activity, waiting = Activity(), list[asyncio.Task[Any]]()
    for calls_through in (activity.calls_through, activity.calls_operators_through):
        pool = EndpointPool(InMemoryEgress(answer), timeout_s=600, max_retries=3)
        calls_through(pool)
        first, second = (pool.endpoint(f"https://t.test/x?k={key}") for key in "ab")
        waiting += [asyncio.create_task(call(first, each)) for each in range(OPENS)]
        await until(partial(_is_silent, first))
        await call(second, 99)
    names = {state.endpoint: (state.answers, state.outage) for state in activity.endpoints()}
    assert names.keys() == {"t.test/x", OPERATORS}
    for answers, outage in names.values():
        assert answers == 1
        assert outage is not None
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_a_later_claim_repeats_nothing_and_reports_the_return(runs: RealRuns) -> None:
    job, is_down = await runs.job(), True

    def answer(_: EgressRequest) -> EgressReply:
        if is_down:
            down()
        return EgressReply(200, {}, b"ok", 0.0)

    waiting: list[asyncio.Task[Any]] = []

    async def claimed(context: RunContext) -> tuple[RunContext, OutageEvents, Endpoint]:
        """A claim whose calls wait, and that has told so unless an earlier one has."""
        claim = replace(context, activity=Activity())
        pool = EndpointPool(InMemoryEgress(answer), timeout_s=600, max_retries=3)
        claim.activity.calls_through(pool)
        target = pool.endpoint("https://user:pw@tools.test/a/b?token=x")
        waiting.extend(asyncio.create_task(call(target, each)) for each in range(OPENS))
        await until(partial(_is_silent, target))
        events = OutageEvents(claim)
        await events.announce()
        await events.announce()
        return claim, events, target

    async with runs.context(job, Script()) as context:
        await claimed(context)
        claim, events, target = await claimed(context)
        assert len(_about(await runs.events(job), "endpoint_silent")) == 1
        assert not _about(await runs.events(job), PAUSE_WAITS)
        for requested in (True, True, False, True):
            await events.announce(pause_requested=requested)
        paused, again = _about(await runs.events(job), PAUSE_WAITS)
        assert paused.level == "info"
        assert paused.message.startswith(
            "A pause is requested: the job pauses after the running step, which waits for "
            "tools.test/a/b, at most until "
        )
        assert (paused.data or {})["endpoints"] == ["tools.test/a/b"]
        assert (again.data or {})["gives_up_at"] - time.time() < 600 + 1
        is_down = False
        await call(target, 99)
        await events.announce()
        await events.announce()
        [answers] = _about(await runs.events(job), "endpoint_answers")
        assert answers.message == "The endpoint answers again: tools.test/a/b. The job continues."
        is_down = True
        waiting += [asyncio.create_task(call(target, 100 + each)) for each in range(OPENS)]
        await until(partial(_is_silent, target))
        await events.announce()
        assert len(_about(await runs.events(job), "endpoint_silent")) == 1, "so soon after"
        await OutageEvents(claim).announce()  # of a claim that knows no earlier one
        assert len(_about(await runs.events(job), "endpoint_silent")) == 2
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
