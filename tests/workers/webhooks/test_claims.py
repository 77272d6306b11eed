"""Claims of deliveries: which worker sends one, and how many are sent at once."""

import asyncio
from typing import Any

import pytest

from app.kit.errors import LeaseLost
from app.webhooks.deliveries import _CHOSEN, DeliveryLimits, delivery_claims, leased_delivery
from app.webhooks.events import AttemptOutcome, DeliveryStatus
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.patience import until
from tests.support.webhooks.deliveries import only
from tests.support.webhooks.scene import Scene


async def test_two_workers_send_each_delivery_once(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(200, delay_s=0.02)) as server:
        made, _ = await scene.endpoint(server)
        for _ in range(25):
            await scene.cancelled_job()
        workers = [scene.deliverer(server) for _ in range(3)]
        await asyncio.gather(*(worker.run(idle_s=0) for worker in workers))
        while any(
            delivery.status is DeliveryStatus.PENDING
            for delivery in await scene.deliveries(made.id)
        ):
            await workers[0].run(idle_s=0)
        ids = [request.headers["webhook-id"] for request in server.received]
        assert (len(ids), len(set(ids))) == (25, 25)


async def test_the_claim_of_a_crashed_worker_returns(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(200)) as server:
        made, _ = await scene.endpoint(server)
        await scene.cancelled_job()
        await scene.fan_out()
        async with delivery_claims(scene.worker) as unit:
            [dead] = await unit.leases.claim_due(0.5, DeliveryLimits())
        await scene.deliverer(server).run(idle_s=0)
        assert server.received == []
        await scene.deliverer(server).run(idle_s=2.5)
        assert len(server.received) == 1
        assert (await only(scene, made.id)).status is DeliveryStatus.DELIVERED
        with pytest.raises(LeaseLost):
            async with leased_delivery(scene.worker, dead) as held:
                await held.delivery.mark_for_retry(AttemptOutcome(500), delay_s=1)
        assert (await only(scene, made.id)).attempts == 1


async def test_deliveries_of_a_deleted_endpoint_stop(scene: Scene) -> None:
    entered = asyncio.Event()

    async def slow(_: ReceivedRequest) -> Reply:
        entered.set()
        return Reply(500, delay_s=0.3)

    async with endpoint(slow) as server:
        made, _ = await scene.endpoint(server)
        await scene.cancelled_job()
        sending = asyncio.create_task(scene.deliverer(server).run(idle_s=0))
        await entered.wait()
        await scene.service().delete(made.id)
        await sending
        assert scene.execute("SELECT count(*) FROM webhook_deliveries") == [(0,)]
        await scene.deliverer(server).run(idle_s=0)
        assert len(server.received) == 1


async def test_a_slow_endpoint_delays_no_other(scene: Scene) -> None:
    concurrent = most = 0
    delivered = asyncio.Event()

    async def slow(_: ReceivedRequest) -> Reply:
        nonlocal concurrent, most
        concurrent += 1
        most = max(most, concurrent)
        await delivered.wait()
        concurrent -= 1
        return Reply(200)

    async with endpoint(slow) as sluggish, endpoint(lambda _: Reply(200)) as quick:
        await scene.endpoint(sluggish)
        for _ in range(6):
            await scene.cancelled_job()
        fast, _ = await scene.endpoint(quick, tenant=scene.second)
        for _ in range(6):
            await scene.cancelled_job(scene.second)
        sending = asyncio.create_task(
            scene.deliverer(
                sluggish, quick, bounds=DeliveryLimits(total=6, per_project=3, per_endpoint=2)
            ).run(idle_s=0)
        )
        await until(lambda: len(quick.received) == 6, what="the quick one's last delivery")
        assert concurrent > 0, "the slow one has answered nothing yet"
        delivered.set()
        await sending
        assert (most, len(sluggish.received)) == (2, 6)
        found = await scene.deliveries(fast.id, tenant=scene.second)
        assert {delivery.status for delivery in found} == {DeliveryStatus.DELIVERED}


async def test_bounds_hold_over_projects_and_in_all(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(200)) as server:
        for tenant in (scene.first, scene.second):
            for path in ("/a", "/b"):
                await scene.endpoint(server, path, tenant=tenant)
            for _ in range(4):
                await scene.cancelled_job(tenant)
        await scene.fan_out()
        counts = []
        for bounds in (
            DeliveryLimits(100, 100, 100, 1),
            DeliveryLimits(100, 100, 3, 2),
            DeliveryLimits(7, 100, 100, 100),
        ):
            async with delivery_claims(scene.worker) as unit:
                counts.append(len(await unit.leases.claim_due(60, bounds)))
        # 1 for each of 4 endpoints; then 3 for each of 2 projects; then 7 in all.
        assert counts == [4, 2, 1]


async def test_only_the_workers_role_sees_what_is_due(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(200)) as server:
        await scene.endpoint(server)
        await scene.cancelled_job()
    await scene.fan_out()
    async with delivery_claims(scene.app) as unit:
        assert await unit.leases.is_due() is False
    async with delivery_claims(scene.worker) as unit:
        assert await unit.leases.is_due() is True


async def test_a_claim_reads_no_more_of_a_long_backlog_than_it_takes(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(200)) as server:
        hooks = [(await scene.endpoint(server, f"/{name}"))[0].id for name in "ab"]
    scene.execute(
        "INSERT INTO webhook_events (project_id, id, type, subject) SELECT %s, 'evt_' || number,"
        " 'fine_tuning.job.failed', 'ftjob-1' FROM generate_series(1, 3000) AS number",
        scene.first.project_id,
    )
    for hook in hooks:
        scene.execute(
            "INSERT INTO webhook_deliveries (project_id, id, endpoint_id, event_id)"
            " SELECT project_id, %s || id, %s, id FROM webhook_events",
            f"{hook}_",
            hook,
        )
    scene.execute("ANALYZE webhook_deliveries")
    async with delivery_claims(scene.worker) as unit:
        assert len(await unit.leases.claim_due(60, DeliveryLimits(per_endpoint=3))) == 6
    choice = _CHOSEN.text
    for limit, number in (("per_endpoint", 5), ("per_project", 9), ("per_organization", 9)):
        choice = choice.replace(f":{limit}", str(number))
    [(plan,)] = scene.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {choice}".replace(":total", "64"))
    # Three in flight and two free ones of each endpoint, and each endpoint's first.
    assert rows_read(plan[0]["Plan"]) < 50


def rows_read(plan: dict[str, Any]) -> float:
    """Returns the number of deliveries that a statement has read, by its measured plan."""
    own = 0.0
    if plan.get("Relation Name") == "webhook_deliveries":
        removed = plan.get("Rows Removed by Filter", 0) + plan.get(
            "Rows Removed by Index Recheck", 0
        )
        own = (plan["Actual Rows"] + removed) * plan["Actual Loops"]
    return own + sum(map(rows_read, plan.get("Plans", ())))
