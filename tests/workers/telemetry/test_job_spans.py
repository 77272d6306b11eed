"""Spans from a job down to the attempt of a call, as a collector gets them over a socket."""

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from app.kit.egress import EgressReply, EgressRequest
from app.kit.telemetry import SPANS, exporting_spans
from tests.support.endpoints import endpoint
from tests.support.rollout.rollouts import KEY
from tests.support.runs.interrupted_runs import RunKilled, interrupted_run
from tests.support.runs.real_run import RealRuns, Script
from tests.support.telemetry.collector import CollectedSpan, Collector, collector
from tests.support.telemetry.traced_rollouts import SECRETS, SPANS_OF_ONE, Customer, play_traced
from workers.job_child import job_run
from workers.journal import InMemoryJournal
from workers.runs.reporter import record_ended


@pytest.fixture
def collected() -> Iterator[Collector]:
    with collector() as running:
        yield running


def _only(spans: list[CollectedSpan]) -> CollectedSpan:
    (span,) = spans
    return span


async def test_a_rollout_is_a_trace_down_to_each_attempt(collected: Collector) -> None:
    began = time.time_ns()
    async with endpoint(Customer()) as server:
        async with exporting_spans(collected.export()):
            await play_traced(server, InMemoryJournal())
        received = server.received
    rollout = _only(collected.named("rollout"))
    turns, calls, attempts = (collected.named(name) for name in ("turn", "call", "attempt"))
    assert len(collected.spans) == SPANS_OF_ONE
    assert {span.trace for span in collected.spans} == {
        KEY.trace_id.removeprefix("trace_").replace("-", "")
    }
    assert rollout.parent is None
    assert [turn.parent for turn in turns] == [rollout.span] * 2
    by_kind = {call.attributes["agent_rft.call.kind"]: call for call in calls}
    assert by_kind["tool"].parent == turns[0].span
    assert by_kind["grader"].parent == rollout.span
    assert [attempt.parent for attempt in attempts] == [
        by_kind["tool"].span,
        by_kind["tool"].span,
        by_kind["grader"].span,
    ]
    # The customer's own tracing joins these spans.
    assert [request.headers["traceparent"] for request in received] == [
        f"00-{attempt.trace}-{attempt.span}-01" for attempt in attempts
    ]
    for inner in collected.spans:
        outer = [span for span in collected.spans if span.span == inner.parent]
        for span in outer:
            assert span.started_ns <= inner.started_ns <= inner.ended_ns <= span.ended_ns
    assert began <= rollout.started_ns <= rollout.ended_ns <= time.time_ns()
    assert all(first.ended_ns <= second.started_ns for first, second in pairwise(turns))


async def test_attributes_are_ids_names_and_counts_alone(collected: Collector) -> None:
    async with endpoint(Customer()) as server:
        async with exporting_spans(collected.export()):
            await play_traced(server, InMemoryJournal())
        address = str(server.port)
    (body,) = collected.bodies
    for secret in (*SECRETS, address, "127.0.0.1", "It is that", "webhook"):
        assert secret.encode() not in body, secret
    rollout = _only(collected.named("rollout"))
    assert rollout.attributes == {
        "agent_rft.job.id": "ftjob-1",
        "agent_rft.rollout.id": KEY.trace_id,
        "agent_rft.split": "train",
        "agent_rft.step": 2,
        "agent_rft.row": 5,
        "agent_rft.sample": 1,
        "agent_rft.requeued": 0,
        "agent_rft.turns": 2,
        "agent_rft.tool_calls": 1,
        "agent_rft.prompt_tokens": rollout.attributes["agent_rft.prompt_tokens"],
        "agent_rft.completion_tokens": rollout.attributes["agent_rft.completion_tokens"],
        "agent_rft.stop_reason": "final_answer",
    }
    assert rollout.service == "agent-rft"
    tool, grader = collected.named("call")
    assert tool.attributes == {
        "agent_rft.call.id": KEY.call_id(0, 0),
        "agent_rft.call.kind": "tool",
        "agent_rft.call.name": "search",
        "agent_rft.call.attempts": 2,
    }
    assert grader.attributes["agent_rft.call.name"] == "g"
    failed, repeated, graded = collected.named("attempt")
    assert failed.attributes == {
        "agent_rft.attempt": 1,
        "http.response.status_code": 503,
        "error.type": "503",
    }
    assert [span.is_error for span in (failed, repeated, graded, tool)] == [
        True,
        False,
        False,
        False,
    ]


async def test_a_replayed_rollout_is_no_second_span(collected: Collector) -> None:
    journal = InMemoryJournal()
    async with endpoint(Customer()) as server, exporting_spans(collected.export()):
        await play_traced(server, journal)
        await play_traced(server, journal)
    assert len(collected.named("rollout")) == 1
    assert len(collected.spans) == SPANS_OF_ONE


async def test_a_rollout_that_is_not_sampled_has_no_span_and_a_flag_that_denies_one(
    collected: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0")
    async with endpoint(Customer()) as server:
        async with exporting_spans(collected.export()):
            await play_traced(server, InMemoryJournal())
        flags = {request.headers["traceparent"][-3:] for request in server.received}
    assert flags == {"-00"}
    assert collected.spans == []


async def test_without_a_collector_nothing_is_recorded_and_the_header_is_the_same() -> None:
    sent = []
    for _ in range(2):
        async with endpoint(Customer()) as server, exporting_spans(None):
            await play_traced(server, InMemoryJournal())
            assert not SPANS.are_recorded
        sent.append([request.headers["traceparent"] for request in server.received])
    assert sent[0] == sent[1]
    assert all(header.endswith("-01") for header in sent[0])


async def test_a_job_is_a_trace_of_its_steps_which_link_to_their_rollouts(
    runs: RealRuns, collected: Collector
) -> None:
    headers = list[dict[str, str]]()
    script = Script()

    def answer(request: EgressRequest) -> EgressReply:
        headers.append(dict(request.headers))
        return script(request)

    job = await runs.job()
    async with exporting_spans(collected.export()):
        await _run_as_child(runs, job, answer)
    ended = await runs.world.read(job)
    assert ended.status == "succeeded"
    whole, steps = _only(collected.named("job")), collected.named("step")
    comparison = _only(collected.named("comparison"))
    assert whole.parent is None
    assert {span.trace for span in (*steps, comparison)} == {whole.trace}
    assert {span.parent for span in (*steps, comparison)} == {whole.span}
    assert [step.attributes["agent_rft.step"] for step in steps] == [0, 1, 2]
    assert whole.attributes["agent_rft.job.status"] == "succeeded"
    assert whole.started_ns == ended.created_at * 1_000_000_000
    assert all(step.ended_ns <= whole.ended_ns for step in steps)
    rollouts = {(span.trace, span.span): span for span in collected.named("rollout")}
    linked = [link for span in (*steps, comparison) for link in span.links]
    assert len(linked) == len(set(linked)) == len(rollouts) > 0
    assert set(linked) == rollouts.keys()
    for span in (*steps, comparison):
        for link in span.links:
            assert rollouts[link].links == [(span.trace, span.span)]
    sent = {header["traceparent"] for header in headers}
    assert sent == {f"00-{span.trace}-{span.span}-01" for span in collected.named("attempt")}


async def _run_as_child(runs: RealRuns, job: Any, answer: Any) -> None:
    """Runs one claim and records its end, as the process of a job does."""
    async with runs.context(job, answer) as context:
        await job_run(context).run()
        await record_ended(context.database, context.job)


async def test_a_killed_claim_and_the_next_one_make_each_rollout_one_span(
    runs: RealRuns, collected: Collector
) -> None:
    job = await runs.job()
    async with exporting_spans(collected.export()):
        async with runs.context(job, Script()) as context:
            with pytest.raises(RunKilled):
                await interrupted_run(context, at_commit=True).run()
        before = {span.span for span in collected.named("rollout")}
        await _run_as_child(runs, job, Script())
    spans = [span.span for span in collected.named("rollout")]
    assert len(spans) == len(set(spans)) > len(before)
    assert [step.attributes["agent_rft.step"] for step in collected.named("step")] == [0, 1, 2]
