"""Delivers webhook events: makes deliveries of committed events, claims due deliveries, sends each
attempt once, writes its outcome. Delivery is at least once, as Standard Webhooks defines it: when a
worker crashes between the reply and the write, another one sends the event again under the same
`webhook-id`. No transaction is open while the worker waits for a receiver.
"""

import math
import secrets
import time
from dataclasses import dataclass
from typing import Final

import structlog

from app.database import Database
from app.kit.egress import Egress, ProjectEgress
from app.kit.errors import LeaseLost, Unavailable
from app.kit.leases import Lease
from app.kit.sealing import SecretBox, SecretsUnreadable
from app.webhooks.deliveries import (
    DeliveryAttempt,
    DeliveryLimits,
    delivery_claims,
    leased_delivery,
)
from app.webhooks.events import SEND_TIMEOUT_S, AttemptOutcome, DeliveryError, retry_delay_s
from app.webhooks.sending import EndpointSecrets, send_event
from workers.processes.event_follower import WEBHOOKS, Follower
from workers.processes.leased_work import ClaimLoop

log = structlog.get_logger()

LEASE_S: Final = 3 * SEND_TIMEOUT_S
"""Longer than an attempt with its transactions; a crashed worker delays as long."""
_CHANCE_STEPS: Final = 1000


async def is_delivery_due(database: Database) -> bool:
    """Makes deliveries of committed events. Raises `Unavailable`."""
    await Follower(database, (WEBHOOKS,)).catch_up()
    async with delivery_claims(database) as unit:
        return await unit.leases.is_due()


@dataclass(frozen=True, slots=True)
class DeliveryPorts:
    database: Database
    egress: Egress
    secret_box: SecretBox


class Deliverer:
    def __init__(
        self,
        ports: DeliveryPorts,
        *,
        bounds: DeliveryLimits | None = None,
        lease_s: float = LEASE_S,
    ) -> None:
        self._ports = ports
        self._bounds = bounds or DeliveryLimits()
        self._lease_s = lease_s
        self._follower = Follower(ports.database, (WEBHOOKS,))

    async def run(self, *, idle_s: float) -> None:
        """Until no delivery was due for `idle_s`; with 0, until every due delivery is done."""
        await ClaimLoop(self.claim, self._deliver, patience_s=math.inf).run(idle_s=idle_s)

    async def claim(self) -> list[Lease]:
        """Makes deliveries of events committed until now, and claims due deliveries."""
        await self._follower.catch_up()
        async with delivery_claims(self._ports.database) as unit:
            return await unit.leases.claim_due(self._lease_s, self._bounds)

    async def _deliver(self, lease: Lease) -> None:
        try:
            async with leased_delivery(self._ports.database, lease) as unit:
                attempt = await unit.delivery.attempt()
            outcome = await self._send(lease, attempt)
            await self._record(lease, attempt, outcome)
        except LeaseLost:
            log.info("delivery gone", delivery_id=lease.id)
        except Unavailable as error:
            # The lease ends, and the event is sent again.
            log.warning("outcome not written", delivery_id=lease.id, error=str(error))
        except Exception:  # a fault of one delivery must not end those of other tenants
            log.exception("delivery failed", delivery_id=lease.id)

    async def _send(self, lease: Lease, attempt: DeliveryAttempt) -> AttemptOutcome:
        box = EndpointSecrets(self._ports.secret_box, lease.project_id)
        try:
            credentials = box.open(attempt.endpoint_id, attempt.sealed)
        except SecretsUnreadable as error:
            log.exception(
                "no secret to sign with", endpoint_id=attempt.endpoint_id, error=str(error)
            )
            return AttemptOutcome(error=DeliveryError.SECRET_UNREADABLE)
        url = credentials.whole_url(attempt.shown_url)
        if url is None:
            log.error("a part of the URL is lost", endpoint_id=attempt.endpoint_id)
            return AttemptOutcome(error=DeliveryError.URL_LOST)
        try:
            # The lookups of each project are its own: one process delivers those of all.
            egress = ProjectEgress(self._ports.egress, attempt.organization_id, lease.project_id)
            return await send_event(egress, url, attempt.event, credentials.signing)
        except Exception:  # the boundary of one delivery: its fault must not end the process
            log.exception("delivery failed", delivery_id=lease.id)
            return AttemptOutcome(error=DeliveryError.INTERNAL_ERROR)

    async def _record(
        self, lease: Lease, attempt: DeliveryAttempt, outcome: AttemptOutcome
    ) -> None:
        number = attempt.earlier_attempts + 1
        delay_s = retry_delay_s(
            number,
            chance=secrets.randbelow(_CHANCE_STEPS + 1) / _CHANCE_STEPS,
            retry_after=outcome.retry_after,
            now=time.time(),
        )
        async with leased_delivery(self._ports.database, lease) as unit:
            if outcome.delivered:
                await unit.delivery.mark_delivered(attempt.endpoint_id, outcome)
            elif outcome.gone:
                await unit.delivery.disable_endpoint(attempt.endpoint_id, outcome)
            elif delay_s is None:
                await unit.delivery.mark_failed(attempt.endpoint_id, outcome)
            else:
                await unit.delivery.mark_for_retry(outcome, delay_s=delay_s)
        log.info(
            "webhook sent",
            delivery_id=lease.id,
            event_id=attempt.event.id,
            attempt=number,
            status_code=outcome.status_code,
            error=outcome.error,
            next_in_s=None if outcome.delivered or outcome.gone else delay_s,
        )
