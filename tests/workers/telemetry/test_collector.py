"""A collector that refuses, hangs or cannot be reached at all touches no job."""

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from app.kit import span_export
from app.kit.telemetry import SPANS_TOTAL, exporting_spans
from app.local.processes import check_export
from app.local.state import WrongOptions
from app.settings import TelemetrySettings, inherited_environment, to_environment
from tests.support.cases import cases
from tests.support.endpoints import endpoint
from tests.support.processes import child_processes
from tests.support.runs.real_run import RealRuns
from tests.support.runs.world import World
from tests.support.stack import Database
from tests.support.telemetry.collector import Collector, collector
from tests.support.telemetry.traced_rollouts import SPANS_OF_ONE, Customer, play_traced
from workers.journal import InMemoryJournal

CHILD = """
import sys
from app.kit.telemetry import SPANS, SpanName, SpanPosition
from workers.processes.child import run_supervised
from workers.leased_kinds import JOBS

async def work(clients, lease):
    with SPANS.open(SpanName.CALL, SpanPosition("a" * 32, "b" * 16)) as span:
        span.mark_asked()

async def on_fault(clients, lease, error):
    return False

sys.exit(run_supervised(JOBS, work, on_fault=on_fault))
"""

WORKER = """
import sys
from app.kit import span_export
span_export._PACKAGES = ("opentelemetry_that_is_missing.sdk",)
from celery.bin.celery import main
sys.argv = ["celery", "-A", "workers.celery_app", "worker", "-Q", "runs", "-c", "1"]
main()
"""


def counts() -> dict[str, float]:
    (family,) = SPANS_TOTAL.collect()
    return {
        sample.labels["outcome"]: sample.value
        for sample in family.samples
        if sample.name == "agent_rft_spans_total"
    }


def added(before: dict[str, float]) -> dict[str, float]:
    now = counts()
    return {name: now[name] - before.get(name, 0) for name in now if now[name] != before.get(name)}


async def _traced(collected: Collector, **options: Any) -> dict[str, float]:
    before = counts()
    async with endpoint(Customer()) as server, exporting_spans(collected.export(**options)):
        await play_traced(server, InMemoryJournal())
    return added(before)


async def test_each_span_is_counted_by_its_end() -> None:
    with collector() as takes:
        assert await _traced(takes) == {"exported": SPANS_OF_ONE}
    with collector("refuses") as refuses:
        assert await _traced(refuses) == {"failed": SPANS_OF_ONE}
        assert refuses.requests
    with collector("hangs") as hangs:
        assert await _traced(hangs, close_limit_s=0.01) == {"dropped": SPANS_OF_ONE}
    with collector() as takes:
        assert len(takes.spans) == 0


async def test_headers_of_the_export_reach_the_collector_and_no_log() -> None:
    with collector() as takes:
        export = takes.export(headers={"x-collector-key": "canary"})
        async with endpoint(Customer()) as server, exporting_spans(export):
            await play_traced(server, InMemoryJournal())
        assert takes.requests[0]["x-collector-key"] == "canary"
        assert takes.requests[0]["content-type"] == "application/x-protobuf"
    assert "canary" not in repr(export)


async def test_a_job_ends_as_without_a_collector(runs: RealRuns) -> None:
    before = counts()
    with collector("hangs") as collected:
        async with exporting_spans(collected.export(most_queued=4, close_limit_s=0.01)):
            job = await runs.run(await runs.job())
    assert job.status == "succeeded"
    lost = added(before)
    assert lost.keys() <= {"dropped", "failed"}
    assert lost["dropped"] > 20, "the queue has four"


@pytest.mark.parametrize("manner", ["takes", pytest.param("hangs", marks=pytest.mark.long)])
async def test_the_process_of_a_job_exports_and_ends(world: World, manner: Any) -> None:
    lease = await world.claim(await world.job())
    assert lease is not None
    with collector(manner) as collected:
        telemetry = TelemetrySettings.model_validate({"otlp_endpoint": collected.url})
        settings = world.settings.model_copy(update={"telemetry": telemetry})
        arguments = ("-c", CHILD, lease.id, lease.project_id, str(lease.fence))
        with child_processes.child(*arguments, settings=settings) as child:
            assert await child.exit_code() == 0
        spans = [(span.name, span.trace, span.span) for span in collected.spans]
        assert spans == ([("call", "a" * 32, "b" * 16)] if manner == "takes" else [])
        assert len(collected.requests) == 1


def test_a_worker_without_the_exporter_does_not_start_and_names_the_extra(
    database: Database,
) -> None:
    environment = {
        **inherited_environment(),
        **to_environment(database.settings),
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318",
    }
    worker = subprocess.run(
        [sys.executable, "-c", WORKER], env=environment, capture_output=True, text=True, check=False
    )
    assert worker.returncode == 1
    assert "pip install 'agent-rft[telemetry]'" in worker.stderr
    assert "Traceback" not in worker.stderr


@pytest.mark.parametrize("variable", ["setting", "OTEL_EXPORTER_OTLP_ENDPOINT"])
def test_up_without_the_exporter_is_refused(
    database: Database, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    telemetry = TelemetrySettings()
    if variable == "setting":
        telemetry = TelemetrySettings(otlp_endpoint="http://127.0.0.1:4318")
    else:
        monkeypatch.setenv(variable, "http://127.0.0.1:4318")
    settings = database.settings.model_copy(update={"telemetry": telemetry})
    check_export(settings)
    monkeypatch.setattr(span_export, "_PACKAGES", ("opentelemetry_that_is_missing.sdk",))
    with pytest.raises(WrongOptions, match="AGENT_RFT_TELEMETRY__OTLP_ENDPOINT"):
        check_export(settings)
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    check_export(settings)


@cases("endpoint", ["collector:4318", "grpc://collector:4317"])
def test_an_endpoint_of_another_protocol_is_refused(endpoint: str) -> None:
    with pytest.raises(ValueError, match="must begin with http"):
        TelemetrySettings(otlp_endpoint=endpoint)


def test_an_empty_endpoint_is_none() -> None:
    assert TelemetrySettings(otlp_endpoint="").span_export() is None
    assert TelemetrySettings().span_export() is None


async def test_a_span_costs_the_work_no_wait_for_the_collector() -> None:
    """The event loop turns while the collector hangs: a span is queued, not sent."""
    with collector("hangs") as hangs:
        async with exporting_spans(hangs.export(most_queued=1, close_limit_s=0.01)):
            async with endpoint(Customer()) as server:
                playing = asyncio.ensure_future(play_traced(server, InMemoryJournal()))
                await playing
            assert not hangs.released.is_set()
