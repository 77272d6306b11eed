"""Projects of one organization share its part of the deliveries and of the name lookups."""

import asyncio
from collections import Counter

import pytest

from app.kit import addresses as lookups
from app.kit.addresses import Lookup
from app.kit.callers import Tenant
from app.kit.egress import EgressPolicy
from app.kit.egress_client import EgressClient
from app.webhooks.deliveries import DeliveryLimits, delivery_claims
from app.webhooks.events import EVENT_TYPES
from app.webhooks.service import WebhookEndpointService
from tests.support.endpoints import Reply, endpoint
from tests.support.store.tenants import insert_project
from tests.support.twins import InMemoryJobQueue
from tests.support.webhooks.scene import Scene
from workers.webhooks.delivery import Deliverer, DeliveryPorts


async def test_projects_of_one_organization_share_its_deliveries(scene: Scene) -> None:
    tenants = await one_and_two_more(scene)
    async with endpoint(lambda _: Reply(200)) as server:
        for tenant in (*tenants, scene.second):
            await scene.endpoint(server, tenant=tenant)
            for _ in range(2):
                await scene.cancelled_job(tenant)
        await scene.fan_out()
        async with delivery_claims(scene.worker) as unit:
            limits = DeliveryLimits(per_organization=3)
            claimed = [lease.project_id for lease in await unit.leases.claim_due(60, limits)]
            again = await unit.leases.claim_due(60, limits)
    # Its second project comes after the first delivery of each of the others.
    assert sorted(claimed) == sorted(
        [*(tenant.project_id for tenant in tenants), *2 * [scene.second.project_id]]
    )
    assert again == []


@pytest.mark.parametrize(
    ("limits", "in_flight"),
    [
        (DeliveryLimits(per_endpoint=2), {"/first": 2, "/beside": 2, "/other": 2}),
        (DeliveryLimits(per_project=2), {"/first": 2, "/other": 2}),
        (DeliveryLimits(per_organization=2), {"/first": 2}),
    ],
    ids=["endpoint", "project", "organization"],
)
async def test_deliveries_in_flight_count_at_the_next_claim(
    scene: Scene, limits: DeliveryLimits, in_flight: dict[str, int]
) -> None:
    """Two are in flight when the endpoint, one beside it and one of another project of the
    organization have two due ones each.
    """
    other = (await one_and_two_more(scene))[1]
    async with endpoint(lambda _: Reply(200)) as server:
        hooks = {(await scene.endpoint(server, "/first"))[0].id: "/first"}
        await send_two(scene, limits, scene.first)
        hooks[(await scene.endpoint(server, "/beside"))[0].id] = "/beside"
        hooks[(await scene.endpoint(server, "/other", tenant=other))[0].id] = "/other"
        await send_two(scene, limits, scene.first, other)
    leased = scene.execute("SELECT endpoint_id FROM webhook_deliveries WHERE lease_until > now()")
    assert Counter(hooks[hook] for (hook,) in leased) == in_flight


async def send_two(scene: Scene, limits: DeliveryLimits, *tenants: Tenant) -> None:
    """Claims deliveries after two events of each tenant."""
    for tenant in 2 * tenants:
        await scene.cancelled_job(tenant)
    await scene.fan_out()
    async with delivery_claims(scene.worker) as unit:
        await unit.leases.claim_due(60, limits)


async def test_unanswered_names_leave_lookups_to_other_organizations(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookups, "_LOOKUP_TIMEOUT_S", 0.2)
    monkeypatch.setattr(lookups, "_SLOT_TIMEOUT_S", 0.2)
    asked, never = Counter[str](), asyncio.Event()

    async def unanswered(host: str, _: int) -> list[str]:
        asked[host.split(".")[1]] += 1
        await never.wait()
        return []

    for number, tenant in enumerate(await one_and_two_more(scene)):
        for name in "abcd":
            await hook(scene, tenant, f"https://{name}{number}.first.example/")
        await scene.cancelled_job(tenant)
    await hook(scene, scene.second, "https://a.second.example/")
    await scene.cancelled_job(scene.second)
    ports = DeliveryPorts(scene.worker, egress(scene, unanswered), scene.box)
    await Deliverer(ports).run(idle_s=0)
    never.set()
    # Twelve names and four slots of each project; eight of an organization.
    assert asked == {"first": 8, "second": 1}


async def one_and_two_more(scene: Scene) -> list[Tenant]:
    """Returns the first tenant and two further projects of its organization."""
    return [scene.first, *[await insert_project(scene.app, scene.first, f"p{n}") for n in "ab"]]


def egress(scene: Scene, lookup: Lookup) -> EgressClient:
    client = EgressClient(EgressPolicy(), lookup=lookup)
    scene.clients.append(client)
    return client


async def hook(scene: Scene, tenant: Tenant, url: str) -> None:
    async def public(_host: str, _port: int) -> list[str]:
        return ["93.184.216.34"]

    notify = InMemoryJobQueue().enqueue_deliveries
    service = WebhookEndpointService(
        scene.app, egress(scene, public), scene.box, tenant, notify=notify
    )
    await service.create(name="n", url=url, event_types=list(EVENT_TYPES))
