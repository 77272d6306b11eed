"""Spans of claims of eval runs and exports, as a collector gets them from their processes."""

from app.kit.leases import Lease
from app.kit.telemetry import trace_of
from app.settings import Settings, TelemetrySettings
from tests.support.evals.criteria import RIGHT, WRONG
from tests.support.evals.world import World, exact, rows, sampled
from tests.support.processes.child_processes import child
from tests.support.telemetry.collector import Collector, collector
from workers.leased_kinds import EVAL_RUNS, EXPORTS
from workers.processes.child import EXIT_LEASE_LOST


def traced(world: World, collected: Collector) -> Settings:
    telemetry = TelemetrySettings(otlp_endpoint=collected.url)
    return world.ports.settings.model_copy(update={"telemetry": telemetry})


async def test_a_claim_of_an_eval_run_is_a_span_in_the_trace_of_the_run(world: World) -> None:
    path = await world.make(exact(), source=sampled(rows(RIGHT, WRONG)))
    lease = await world.claim(path)
    with collector() as collected:
        with child(*EVAL_RUNS.command(lease), settings=traced(world, collected)) as started:
            assert await started.exit_code() == 0
        [span] = collected.named("eval_run")
    assert (span.trace, span.parent, span.is_error) == (trace_of(lease.id), None, False)
    assert span.attributes == {
        "agent_rft.eval_run.id": lease.id,
        "agent_rft.project.id": lease.project_id,
        "agent_rft.fence": 1,
    }
    run = await world.get(path)
    assert run["status"] == "completed"
    assert span.started_ns < span.ended_ns


async def test_a_claim_that_was_lost_is_a_span_with_an_error(world: World) -> None:
    path = await world.make(exact(), source=sampled(rows(RIGHT)))
    claimed = await world.claim(path)
    lost = Lease("export_gone", claimed.project_id, 3)
    with collector() as collected:
        with child(*EXPORTS.command(lost), settings=traced(world, collected)) as started:
            assert await started.exit_code() == EXIT_LEASE_LOST
        [span] = collected.named("export")
    assert (span.trace, span.is_error) == (trace_of("export_gone"), True)
    assert span.attributes["agent_rft.export.id"] == "export_gone"
    assert span.attributes["agent_rft.fence"] == 3
