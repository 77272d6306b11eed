import pytest

from app.tools.schemas import RunToolTest
from app.tools.tool_contract import ContractTest, percentile, run_checks
from app.tools.tools import ToolSpec
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.rollout.rollouts import SECRET_KEY, egress_to


async def test_a_hang_is_one_failed_call_and_the_rest_is_skipped() -> None:
    async with endpoint(lambda _: Reply(delay_s=60)) as server:
        egress = egress_to(server)
        test = ContractTest(
            egress,
            ToolSpec(name="search", server_url=server.url()),
            RunToolTest(arguments={}, requests=10, rate=50.0),
            secret_keys=(SECRET_KEY,),
            project_id="proj_a",
            call_timeout_s=0.2,
        )
        checks = {check.name: check for check in await run_checks(test)}
        await egress.aclose()
    assert (checks["shape"].status, checks["shape"].data["kind"]) == ("failed", "timeout")
    assert checks["latency"].status == "skipped"
    assert len(server.received) == 1


@pytest.mark.long
async def test_calls_that_hang_under_load_are_counted() -> None:
    def tires(_: ReceivedRequest) -> Reply:
        return Reply(json={"output": "x"}, delay_s=60 if len(server.received) > 8 else 0)

    async with endpoint(tires) as server:
        egress = egress_to(server)
        test = ContractTest(
            egress,
            ToolSpec(name="search", server_url=server.url()),
            RunToolTest(arguments={}, requests=6, rate=50.0),
            secret_keys=(SECRET_KEY,),
            project_id="proj_a",
            call_timeout_s=3.0,  # three calls must answer, also on a busy machine
        )
        checks = {check.name: check for check in await run_checks(test)}
        await egress.aclose()
    latency = checks["latency"]
    # Five calls went to the checks before it.
    assert (latency.status, latency.data["sent"], latency.data["answered"]) == ("failed", 6, 3)
    assert "3 of 6 calls" in latency.detail


def test_percentiles_are_by_nearest_rank() -> None:
    ordered = [float(number) for number in range(1, 101)]
    assert [percentile(ordered, share) for share in (0.5, 0.95, 0.99, 1.0)] == [50, 95, 99, 100]
    assert (percentile([7.0], 0.5), percentile([], 0.5)) == (7, None)
