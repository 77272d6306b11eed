"""Deliveries over real sockets; their times are on the clock of Postgres."""

import json
import time
from itertools import pairwise
from typing import Any

import pytest
from openai import InvalidWebhookSignatureError, OpenAI

from app.kit.egress import EgressReply, EgressRequest
from app.webhooks.deliveries import DeliveryLimits
from app.webhooks.events import (
    JITTER,
    OVERLAP_S,
    RETRY_DELAYS_S,
    DeliveryStatus,
    EndpointCredentials,
    SigningSecret,
)
from app.webhooks.sending import EndpointSecrets
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.twins import InMemoryEgress
from tests.support.webhooks.deliveries import only
from tests.support.webhooks.scene import Scene
from workers.webhooks.delivery import Deliverer, DeliveryPorts

CANCELLED = "fine_tuning.job.cancelled"
LEAST, MOST = 1 - JITTER - 0.01, 1 + JITTER + 0.01


def unwrap(received: ReceivedRequest, secret: SigningSecret) -> Any:
    client = OpenAI(api_key="k")
    return client.webhooks.unwrap(received.body, received.headers, secret=secret.text)


async def test_an_event_arrives_once_and_the_sdk_accepts_it(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(204, body=b"")) as server:
        made, secret = await scene.endpoint(server)
        job_id = await scene.cancelled_job()
        await scene.deliverer(server).run(idle_s=0)
        await scene.deliverer(server).run(idle_s=0)
        [received] = server.received
        event = unwrap(received, secret)
        assert (event.type, event.data.id) == (CANCELLED, job_id)
        assert json.loads(received.body) == {
            "id": received.headers["webhook-id"],
            "object": "event",
            "created_at": event.created_at,
            "type": CANCELLED,
            "data": {"id": job_id},
        }
        assert abs(event.created_at - time.time()) < 60
        assert received.headers["user-agent"] == "agent-rft/1 (webhooks)"
        delivery = await only(scene, made.id)
        assert (delivery.status, delivery.attempts) == (DeliveryStatus.DELIVERED, 1)
        assert (delivery.event_id, delivery.event_type) == (event.id, CANCELLED)
        assert (delivery.last_status_code, delivery.last_error) == (204, None)
        assert delivery.next_attempt_at is None
        tampered = received.body.replace(b"cancelled", b"succeeded")
        with pytest.raises(InvalidWebhookSignatureError):
            OpenAI(api_key="k").webhooks.unwrap(tampered, received.headers, secret=secret.text)


async def test_the_whole_url_is_called_and_the_row_shows_a_part(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(204, body=b"")) as server:
        made, secret = await scene.endpoint(server, "/hook?token=canary&v=2")
        assert made.url == server.url("/hook?token=[redacted]&v=[redacted]")
        await scene.service().rotate(made.id, keep_old=True)
        await scene.cancelled_job()
        await scene.deliverer(server).run(idle_s=0)
        [received] = server.received
        assert received.path == "/hook?token=canary&v=2"
        unwrap(received, secret)
    assert (await only(scene, made.id)).status is DeliveryStatus.DELIVERED
    assert scene.execute("SELECT url FROM webhook_endpoints") == [(made.url,)]


async def test_a_url_whose_secret_was_lost_is_not_called(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(204, body=b"")) as server:
        made, secret = await scene.endpoint(server)
        sealed = EndpointSecrets(scene.box, scene.first.project_id).seal(
            made.id, EndpointCredentials((secret,))
        )
        lost = server.url("/hook?token=[redacted]")
        scene.execute("UPDATE webhook_endpoints SET url = %s, secrets = %s", lost, sealed)
        await scene.cancelled_job()
        await scene.deliverer(server).run(idle_s=0)
        delivery = await only(scene, made.id)
        assert (delivery.status, delivery.last_error) == (DeliveryStatus.PENDING, "url_lost")
        assert server.connections == 0


async def test_an_event_without_subscribers_makes_no_rows(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(200)) as server:
        await scene.service(server).create(
            name="n", url=server.url(), event_types=["fine_tuning.job.succeeded"]
        )
        await scene.endpoint(server, tenant=scene.second)
        await scene.cancelled_job()
    await scene.fan_out()
    for table in ("webhook_events", "webhook_deliveries"):
        assert scene.execute(f"SELECT count(*) FROM {table}") == [(0,)]


async def test_failures_are_tried_again_on_the_published_schedule(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(500)) as server:
        made, secret = await scene.endpoint(server)
        await scene.cancelled_job()
        for attempt, delay_s in enumerate(RETRY_DELAYS_S, start=1):
            await scene.deliverer(server).run(idle_s=0)
            delivery = await only(scene, made.id)
            assert (delivery.status, delivery.attempts) == (DeliveryStatus.PENDING, attempt)
            assert delivery.last_status_code == 500
            assert delivery.next_attempt_at is not None
            wait_s = delivery.next_attempt_at - time.time()
            assert LEAST * delay_s - 2 <= wait_s <= MOST * delay_s + 1
            assert (await scene.service().get(made.id)).last_failed_at is None
            scene.make_due()
        await scene.deliverer(server).run(idle_s=0)
        delivery = await only(scene, made.id)
        assert (delivery.status, delivery.attempts) == (DeliveryStatus.FAILED, 10)
        shown = await scene.service().get(made.id)
        assert shown.last_failed_at is not None
        assert shown.disabled_at is None
        scene.make_due()
        await scene.deliverer(server).run(idle_s=0)
        assert len(server.received) == 10
        assert len({request.headers["webhook-id"] for request in server.received}) == 1
        assert len({request.body for request in server.received}) == 1
        for request in server.received:
            unwrap(request, secret)
        stamps = [int(request.headers["webhook-timestamp"]) for request in server.received]
        assert all(later >= earlier for earlier, later in pairwise(stamps))
    async with endpoint(lambda _: Reply(200)) as server:
        await scene.service(server).update(made.id, name=None, url=server.url(), event_types=None)
        await scene.cancelled_job()
        await scene.deliverer(server).run(idle_s=0)
        assert (await scene.service().get(made.id)).last_failed_at is None


@pytest.mark.parametrize(
    "reply",
    [
        Reply(302, headers={"Location": "/elsewhere"}),
        Reply(404),
        Reply(500, headers={"Content-Encoding": "gzip"}),
    ],
)
async def test_any_status_but_a_2xx_is_a_failure(scene: Scene, reply: Reply) -> None:
    async with endpoint(lambda _: reply) as server:
        made, _ = await scene.endpoint(server)
        await scene.cancelled_job()
        await scene.deliverer(server).run(idle_s=0)
        delivery = await only(scene, made.id)
        # On a busy machine the second attempt may be due before the first one has ended.
        assert (delivery.status, delivery.attempts) == (
            DeliveryStatus.PENDING,
            len(server.received),
        )
        assert (delivery.last_status_code, delivery.last_error) == (reply.status, None)
        assert {request.path for request in server.received} == {"/hook"}


@pytest.mark.parametrize(
    "reply", [Reply(200, body=b"x" * 2_000_000), Reply(202, headers={"Content-Encoding": "gzip"})]
)
async def test_a_2xx_is_a_delivery_whatever_its_body(scene: Scene, reply: Reply) -> None:
    async with endpoint(lambda _: reply) as server:
        made, _ = await scene.endpoint(server)
        await scene.cancelled_job()
        await scene.deliverer(server).run(idle_s=0)
        delivery = await only(scene, made.id)
        assert (delivery.status, delivery.attempts) == (DeliveryStatus.DELIVERED, 1)
        assert delivery.last_status_code == reply.status


async def test_a_fault_in_one_delivery_ends_no_other(scene: Scene) -> None:
    def faulty(request: EgressRequest) -> EgressReply:
        if request.url.endswith("/faulty"):
            raise ZeroDivisionError
        return EgressReply(200, {}, b"", 0.0)

    async with endpoint(lambda _: Reply(200)) as server:
        broken, _ = await scene.endpoint(server, "/faulty")
        whole, _ = await scene.endpoint(server, "/whole", tenant=scene.second)
        for tenant in (scene.first, scene.second):
            await scene.cancelled_job(tenant)
    ports = DeliveryPorts(scene.worker, InMemoryEgress(faulty), scene.box)
    await Deliverer(ports).run(idle_s=0)
    failed = await only(scene, broken.id)
    assert (failed.status, failed.last_error) == (DeliveryStatus.PENDING, "internal_error")
    assert failed.next_attempt_at is not None
    assert failed.next_attempt_at > time.time()
    [delivered] = await scene.deliveries(whole.id, tenant=scene.second)
    assert delivered.status is DeliveryStatus.DELIVERED


async def test_an_address_that_is_private_now_is_not_dialled(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(200)) as server:
        made, _ = await scene.endpoint(server)
        await scene.cancelled_job()
        await scene.deliverer().run(idle_s=0)
        assert server.connections == 0
    assert (await only(scene, made.id)).last_error == "refused"


async def test_a_refused_connection_is_retried(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(200)) as server:
        made, _ = await scene.endpoint(server)
    await scene.cancelled_job()
    await scene.deliverer(server).run(idle_s=0)
    delivery = await only(scene, made.id)
    assert (delivery.status, delivery.last_error) == (DeliveryStatus.PENDING, "unreachable")


async def test_a_receiver_may_request_more_time(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(429, headers={"Retry-After": "3600"})) as server:
        made, _ = await scene.endpoint(server)
        await scene.cancelled_job()
        await scene.deliverer(server).run(idle_s=0)
        delivery = await only(scene, made.id)
        assert delivery.next_attempt_at is not None
        wait_s = delivery.next_attempt_at - time.time()
        assert 2 * RETRY_DELAYS_S[0] * LEAST - 2 <= wait_s <= 2 * RETRY_DELAYS_S[0] * MOST + 1


async def test_gone_disables_the_endpoint_until_it_is_updated(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(410)) as server:
        made, _ = await scene.endpoint(server)
        for _ in range(3):
            await scene.cancelled_job()
        await scene.deliverer(server, bounds=DeliveryLimits(per_endpoint=1)).run(idle_s=0)
        assert len(server.received) == 1
        statuses = [delivery.status for delivery in await scene.deliveries(made.id)]
        assert statuses == [DeliveryStatus.FAILED] * 3
        assert (await scene.service().get(made.id)).disabled_at is not None
        await scene.cancelled_job()
        assert len(await scene.deliveries(made.id)) == 3
        await scene.service().update(made.id, name="again", url=None, event_types=None)
        assert (await scene.service().get(made.id)).disabled_at is None
        await scene.cancelled_job()
        assert len(await scene.deliveries(made.id)) == 4


async def test_during_a_rotation_either_secret_verifies(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(200)) as server:
        made, old = await scene.endpoint(server)
        _, new = await scene.service().rotate(made.id, keep_old=True)
        await scene.cancelled_job()
        await scene.deliverer(server).run(idle_s=0)
        unwrap(server.received[0], old)
        unwrap(server.received[0], new)
        assert len(server.received[0].headers["webhook-signature"].split(" ")) == 2
        _, last = await scene.service().rotate(made.id, keep_old=False)
        await scene.cancelled_job()
        await scene.deliverer(server).run(idle_s=0)
        unwrap(server.received[1], last)
        for stale in (old, new):
            with pytest.raises(InvalidWebhookSignatureError):
                unwrap(server.received[1], stale)


async def test_a_rotated_secret_ends_after_a_day(scene: Scene) -> None:
    async with endpoint(lambda _: Reply(200)) as server:
        made, old = await scene.endpoint(server)
        a_day_ago = scene.service(now=lambda: time.time() - OVERLAP_S - 1)
        _, new = await a_day_ago.rotate(made.id, keep_old=True)
        await scene.cancelled_job()
        await scene.deliverer(server).run(idle_s=0)
        unwrap(server.received[0], new)
        with pytest.raises(InvalidWebhookSignatureError):
            unwrap(server.received[0], old)
