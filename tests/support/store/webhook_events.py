"""Inserts webhook endpoints and ends jobs, so that events exist."""

from app.jobs.jobs import Job, StopRequest
from app.kit.callers import Tenant
from app.kit.ids import new_id
from app.webhooks.events import EVENT_TYPES, WebhookEndpoint
from tests.support.store.rows import Rows
from workers.processes.event_follower import WEBHOOKS, Follower


async def an_endpoint(rows: Rows, tenant: Tenant | None = None, *types: str) -> str:
    endpoint = WebhookEndpoint(
        id=new_id("whe_"),
        name="n",
        url="https://example.com/",
        event_types=list(types or EVENT_TYPES),
        secret_hint="whsec_***",
    )
    async with rows.app.tenant(tenant or rows.first) as unit:
        await unit.webhook_endpoints.insert(endpoint, secrets=b"sealed")
    return endpoint.id


async def cancel(rows: Rows, job: Job) -> None:
    async with rows.app.tenant(rows.first) as unit:
        await unit.jobs.request_stop(job.id, StopRequest.CANCEL)


async def fan_out(rows: Rows) -> None:
    """Makes deliveries of what was committed, as the dispatcher does."""
    await Follower(rows.worker, (WEBHOOKS,)).catch_up()
