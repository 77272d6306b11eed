"""Two projects, their webhook endpoints, and the deliverer that serves them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg

from app.database import Database
from app.jobs.jobs import Job, JobStatus, StopRequest
from app.jobs.methods import stored_method
from app.kit.callers import Tenant
from app.kit.egress import EgressPolicy
from app.kit.egress_client import EgressClient
from app.kit.ids import new_id
from app.kit.sealing import SecretBox
from app.webhooks.events import EVENT_TYPES, SigningSecret, WebhookDelivery, WebhookEndpoint
from app.webhooks.service import WebhookEndpointService
from tests.support import stack
from tests.support.endpoints import EndpointServer
from tests.support.store.new_jobs import insert_job_in
from tests.support.twins import InMemoryJobQueue
from workers.processes.event_follower import WEBHOOKS, Follower
from workers.webhooks.delivery import Deliverer, DeliveryPorts


@dataclass(frozen=True, slots=True)
class Scene:
    """Two projects; everything that happens goes through the stores that the service uses."""

    stack: stack.Database
    app: Database
    worker: Database
    first: Tenant
    second: Tenant
    box: SecretBox

    clients: list[EgressClient]

    def deliverer(self, *servers: EndpointServer, **options: Any) -> Deliverer:
        ports = DeliveryPorts(self.worker, self._egress(*servers), self.box)
        return Deliverer(ports, **options)

    def service(
        self,
        *servers: EndpointServer,
        tenant: Tenant | None = None,
        now: Callable[[], float] = time.time,
    ) -> WebhookEndpointService:
        egress = self._egress(*servers)
        queue = InMemoryJobQueue()
        return WebhookEndpointService(
            self.app,
            egress,
            self.box,
            tenant or self.first,
            notify=queue.enqueue_deliveries,
            now=now,
        )

    def _egress(self, *servers: EndpointServer) -> EgressClient:
        allowed = frozenset(server.host_port for server in servers)
        client = EgressClient(EgressPolicy(allow_endpoints=allowed, allow_plain_http=True))
        self.clients.append(client)
        return client

    async def endpoint(
        self, server: EndpointServer, path: str = "/hook", *, tenant: Tenant | None = None
    ) -> tuple[WebhookEndpoint, SigningSecret]:
        return await self.service(server, tenant=tenant).create(
            name="n", url=server.url(path), event_types=list(EVENT_TYPES)
        )

    async def cancelled_job(self, tenant: Tenant | None = None) -> str:
        tenant = tenant or self.first
        job = Job(
            id=new_id("ftjob-"),
            organization_id=tenant.organization_id,
            project_id=tenant.project_id,
            model="tiny",
            status=JobStatus.VALIDATING_FILES,
            training_file="file-a",
            validation_file="file-b",
            seed=1,
            method=stored_method({"type": "reinforcement", "reinforcement": {}}),
            created_at=0,
            key_id="key_x",
        )
        async with self.app.tenant(tenant) as unit:
            await insert_job_in(unit, job)
            await unit.jobs.request_stop(job.id, StopRequest.CANCEL)
        return job.id

    async def fan_out(self) -> None:
        """Makes deliveries of what was committed, as the dispatcher does."""
        await Follower(self.worker, (WEBHOOKS,)).catch_up()

    async def deliveries(
        self, endpoint_id: str, *, tenant: Tenant | None = None
    ) -> list[WebhookDelivery]:
        await self.fan_out()
        service = self.service(tenant=tenant)
        return (await service.deliveries(endpoint_id, after=None, limit=100))[0]

    def execute(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        url = self.stack.superuser_url.replace("+psycopg", "")
        with psycopg.connect(url) as connection:
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def make_due(self) -> None:
        """Lets the time of every next attempt have come."""
        self.execute(
            "UPDATE webhook_deliveries SET next_attempt_at = now() WHERE status = 'pending'"
        )
