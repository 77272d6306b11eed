"""The process that delivers: started when a delivery is due, replaced when it was killed."""

import signal
from collections.abc import Iterator

import pytest

from app.database import Database
from app.settings import EgressSettings, to_environment
from app.webhooks.events import DeliveryStatus
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply, endpoint
from tests.support.patience import until
from tests.support.processes.child_processes import CONTROL_FORKS, ended, killed
from tests.support.webhooks.scene import Scene
from workers.processes.child import EXIT_ORPHANED
from workers.processes.dispatcher import start_if_due
from workers.processes.forking.forks import Children
from workers.webhooks.delivery import is_delivery_due


@pytest.fixture
def children() -> Iterator[Children]:
    started = Children(1, CONTROL_FORKS)
    yield started
    for child in list(started.running):
        killed(child.process)


def let_children_call(
    server: EndpointServer, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    egress = EgressSettings(allow_endpoints=(server.host_port,), allow_plain_http=True)
    settings = scene.stack.settings.model_copy(update={"egress": egress})
    for name, value in to_environment(settings).items():
        monkeypatch.setenv(name, value)


async def dispatch_deliveries(database: Database, *, children: Children) -> bool:
    return await start_if_due(
        "workers.webhooks.child", lambda: is_delivery_due(database), children=children
    )


def statuses(scene: Scene) -> set[str]:
    return {row[0] for row in scene.execute("SELECT status FROM webhook_deliveries")}


async def test_one_process_is_started_once_something_is_due(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, children: Children
) -> None:
    async with endpoint(lambda _: Reply(200)) as server:
        let_children_call(server, scene, monkeypatch)
        await scene.endpoint(server)
        assert await dispatch_deliveries(scene.worker, children=children) is False
        await scene.cancelled_job()
        assert await dispatch_deliveries(scene.worker, children=children) is True
        assert await dispatch_deliveries(scene.worker, children=children) is True
        child = children.running[0].process
        await until(lambda: len(server.received) == 1)
        # The process remains for a while and polls: nothing else is started here.
        await scene.cancelled_job()
        await until(lambda: len(server.received) == 2)
        assert [running.process for running in children.running] == [child]
        await until(lambda: statuses(scene) == {DeliveryStatus.DELIVERED.value})
        child.signal(signal.SIGTERM)
        await ended(child)


async def test_what_a_killed_process_had_on_its_way_is_sent_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, children: Children
) -> None:
    async def hang_once(_: ReceivedRequest) -> Reply:
        return Reply(200, delay_s=3600 if len(server.received) == 1 else 0)

    async with endpoint(hang_once) as server:
        let_children_call(server, scene, monkeypatch)
        await scene.endpoint(server)
        await scene.cancelled_job()
        await dispatch_deliveries(scene.worker, children=children)
        await until(lambda: len(server.received) == 1)
        child = children.running[0].process
        killed(child)
        assert await dispatch_deliveries(scene.worker, children=children) is False, (
            "the lease still runs"
        )
        scene.execute("UPDATE webhook_deliveries SET lease_until = now() - interval '1 second'")
        assert await dispatch_deliveries(scene.worker, children=children) is True
        await until(lambda: len(server.received) == 2)
        first, second = server.received
        assert first.headers["webhook-id"] == second.headers["webhook-id"]
        assert first.body == second.body
        await until(lambda: statuses(scene) == {DeliveryStatus.DELIVERED.value})


async def test_a_process_ends_with_its_parent(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, children: Children
) -> None:
    async with endpoint(lambda _: Reply(200)) as server:
        let_children_call(server, scene, monkeypatch)
        await scene.endpoint(server)
        await scene.cancelled_job()
        await dispatch_deliveries(scene.worker, children=children)
        await until(lambda: len(server.received) == 1)
        child = children.running[0]
        child.line.close()
        assert await ended(child.process) == EXIT_ORPHANED
