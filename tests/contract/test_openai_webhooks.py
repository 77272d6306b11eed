"""Webhooks with the official client, unmodified: from an endpoint to an event that it unwraps."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from openai import BadRequestError, InvalidWebhookSignatureError, NotFoundError, OpenAI
from openai.resources.webhooks import Webhooks

from app.database import Database as Store
from app.kit.egress import EgressPolicy
from app.kit.egress_client import EgressClient
from app.kit.sealing import SecretBox
from tests.support.contract.service import HOOK_PORT, ROW, Service
from tests.support.webhooks.webhook_receiver import Taken, webhook_receiver
from workers.webhooks.delivery import Deliverer, DeliveryPorts

needs_methods = pytest.mark.skipif(
    not hasattr(Webhooks, "create"), reason="this client has no methods for webhook endpoints"
)

HOST_PORT = f"127.0.0.1:{HOOK_PORT}"
HOOK = f"http://{HOST_PORT}/hook"
TYPES: Any = ["fine_tuning.job.cancelled", "eval.run.canceled"]


@pytest.fixture
def taken() -> Iterator[Taken]:
    """Headers and bodies that arrived."""
    with webhook_receiver(HOOK_PORT) as arrived:
        yield arrived


@pytest.fixture
def client(service: Service) -> OpenAI:
    service.execute("DELETE FROM webhook_endpoints")
    service.execute("DELETE FROM webhook_events")
    return service.client()


def deliver(service: Service) -> None:
    """Runs the deliveries of the control worker in this process."""

    async def run() -> None:
        settings = service.database.settings
        store = Store(settings.worker_database_url, pool_size=2)
        egress = EgressClient(EgressPolicy(frozenset({HOST_PORT}), allow_plain_http=True))
        box = SecretBox(settings.secret_key.get_secret_value())
        try:
            await Deliverer(DeliveryPorts(store, egress, box)).run(idle_s=0)
        finally:
            await egress.aclose()
            await store.dispose()

    asyncio.run(run())


def cancelled_job(client: OpenAI, method: dict[str, Any]) -> str:
    file = client.files.create(file=("rows.jsonl", ROW * 12), purpose="fine-tune")
    create: Any = client.fine_tuning.jobs.create
    job = create(model="tiny-agent", training_file=file.id, validation_file=file.id, method=method)
    client.fine_tuning.jobs.cancel(job.id)
    return str(job.id)


def canceled_run(client: OpenAI) -> str:
    check: Any = {
        "type": "string_check",
        "name": "exact",
        "operation": "eq",
        "input": "a",
        "reference": "a",
    }
    of = client.evals.create(
        data_source_config={"type": "custom", "item_schema": {"type": "object"}},
        testing_criteria=[check],
    )
    source: Any = {"type": "jsonl", "source": {"type": "file_content", "content": [{"item": {}}]}}
    run = client.evals.runs.create(of.id, data_source=source)
    client.evals.runs.cancel(run.id, eval_id=of.id)
    return run.id


def test_what_was_canceled_arrives_and_is_unwrapped(
    service: Service, client: OpenAI, method: dict[str, Any], taken: Taken
) -> None:
    new = {"name": "ci", "url": HOOK, "event_types": TYPES}
    post: Any = client.post  # Version 2 unwraps events but has no methods for endpoints.
    made = post("/webhook_endpoints", body=new, cast_to=dict[str, Any])
    job_id, run_id = cancelled_job(client, method), canceled_run(client)
    deliver(service)
    events: Any = [
        client.webhooks.unwrap(body, headers, secret=made["signing_secret"])
        for headers, body in taken
    ]
    assert {(event.type, event.data.id) for event in events} == {
        ("fine_tuning.job.cancelled", job_id),
        ("eval.run.canceled", run_id),
    }
    kinds = {type(event).__name__ for event in events}
    assert kinds == {"FineTuningJobCancelledWebhookEvent", "EvalRunCanceledWebhookEvent"}
    deliver(service)
    assert len(taken) == 2
    deliveries: Any = client.get(
        f"/webhook_endpoints/{made['id']}/deliveries", cast_to=dict[str, Any]
    )
    assert [(delivery["status"], delivery["attempts"]) for delivery in deliveries["data"]] == [
        ("delivered", 1)
    ] * 2
    with pytest.raises(InvalidWebhookSignatureError):
        headers, body = taken[0]
        client.webhooks.unwrap(body + b" ", headers, secret=made["signing_secret"])


@needs_methods
def test_a_rotation_with_overlap_loses_no_receiver(
    service: Service, client: OpenAI, method: dict[str, Any], taken: Taken
) -> None:
    made = client.webhooks.create(name="ci", url=HOOK, event_types=TYPES)
    fresh = client.webhooks.rotate_secret(made.id, keep_old_secret_active_for_24_hours=True)
    assert fresh.signing_secret != made.signing_secret
    assert fresh.signing_secret_hint != made.signing_secret_hint
    cancelled_job(client, method)
    deliver(service)
    last = client.webhooks.rotate_secret(made.id)
    cancelled_job(client, method)
    deliver(service)
    (both_headers, both), (one_headers, one) = taken
    for secret in (made.signing_secret, fresh.signing_secret):
        client.webhooks.verify_signature(both, both_headers, secret=secret)
        with pytest.raises(InvalidWebhookSignatureError):
            client.webhooks.verify_signature(one, one_headers, secret=secret)
    client.webhooks.verify_signature(one, one_headers, secret=last.signing_secret)


@needs_methods
def test_endpoints_live_as_the_client_expects(
    service: Service, client: OpenAI, taken: Taken
) -> None:
    ids = [
        client.webhooks.create(name=str(number), url=HOOK, event_types=TYPES).id
        for number in range(5)
    ]
    assert [endpoint.id for endpoint in client.webhooks.list(limit=2)] == ids[::-1]
    changed = client.webhooks.update(ids[0], name="other", event_types=["eval.run.failed"])
    assert client.webhooks.retrieve(ids[0]) == changed
    assert (changed.name, changed.event_types, changed.url) == ("other", ["eval.run.failed"], HOOK)
    tested = client.webhooks.test(ids[0], event_type="eval.run.failed")
    assert (tested.object, tested.status_code, tested.success) == (
        "webhook_endpoint.test",
        204,
        True,
    )
    assert len(taken) == 1
    stranger = service.client(key=service.api.other_key)
    with pytest.raises(NotFoundError):
        stranger.webhooks.retrieve(ids[0])
    assert client.webhooks.delete(ids[0]).deleted
    with pytest.raises(NotFoundError):
        client.webhooks.retrieve(ids[0])
    with pytest.raises(BadRequestError) as refused:
        client.webhooks.create(name="n", url="https://10.0.0.1/", event_types=TYPES)
    assert (refused.value.code, refused.value.param) == ("endpoint_not_allowed", "url")
    assert set(TYPES) < set(client.webhooks.event_types.list().data)
