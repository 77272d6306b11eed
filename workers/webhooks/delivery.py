"""Delivers events: claims what is due, sends each attempt once, and writes what came of it.

At least once, as Standard Webhooks has it: a worker that dies between the answer and its note sends
again under the same `webhook-id`. No transaction is open while a receiver is waited for.
"""

import asyncio
import secrets
import time
from dataclasses import dataclass
from typing import Final

import structlog

from app.domain.errors import LeaseLost, Unavailable
from app.domain.events.webhooks import SEND_TIMEOUT_S, Outcome, retry_delay_s
from app.gateways.egress.egress import Egress
from app.gateways.endpoints.webhooks import EndpointSecrets, send_event
from app.gateways.secrets import SecretBox, SecretsUnreadable
from app.store.database import Database
from app.store.webhooks.deliveries import (
    Bounds,
    ClaimedDelivery,
    DeliveryAttempt,
    delivery_claims,
    held_delivery,
)

log = structlog.get_logger()

LEASE_S: Final = 3 * SEND_TIMEOUT_S
"""Longer than an attempt with its rows; a worker that died holds a delivery back for no more."""
POLL_S: Final = 1.0
_CHANCE_STEPS: Final = 1000


@dataclass(frozen=True, slots=True)
class DeliveryPorts:
    database: Database
    egress: Egress
    secret_box: SecretBox


class Deliverer:
    def __init__(
        self, ports: DeliveryPorts, *, bounds: Bounds | None = None, lease_s: float = LEASE_S
    ) -> None:
        self._ports = ports
        self._bounds = bounds or Bounds()
        self._lease_s = lease_s
        self._running: set[asyncio.Task[None]] = set()

    async def run(self, *, idle_s: float) -> None:
        """Until nothing was due for `idle_s`; with 0 until what is due now is seen to."""
        busy_until = time.monotonic() + idle_s
        try:
            while True:
                for claimed in await self._claim():
                    self._running.add(asyncio.create_task(self._see_to(claimed)))
                if self._running:
                    busy_until = time.monotonic() + idle_s
                    await self._wait()
                elif time.monotonic() >= busy_until:
                    return
                else:
                    await asyncio.sleep(POLL_S)
        finally:
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)

    async def _wait(self) -> None:
        """Until one of them is done, and no longer than until the next look at what is due."""
        done, self._running = await asyncio.wait(
            self._running, timeout=POLL_S, return_when=asyncio.FIRST_COMPLETED
        )
        for task in done:
            task.result()

    async def _claim(self) -> list[ClaimedDelivery]:
        try:
            async with delivery_claims(self._ports.database) as unit:
                return await unit.deliveries.claim(self._lease_s, self._bounds)
        except Unavailable as error:
            log.warning("nothing claimed, database away", error=str(error))
            await asyncio.sleep(POLL_S)
            return []

    async def _see_to(self, claimed: ClaimedDelivery) -> None:
        try:
            async with held_delivery(self._ports.database, claimed) as unit:
                parcel = await unit.delivery.parcel()
            outcome = await self._send(claimed, parcel)
            await self._note(claimed, parcel, outcome)
        except LeaseLost:
            log.info("delivery gone", delivery_id=claimed.delivery_id)
        except Unavailable as error:
            # The lease runs out, and the event is sent again.
            log.warning("delivery not noted", delivery_id=claimed.delivery_id, error=str(error))
        except Exception:  # a fault of one delivery must not end those of other tenants
            log.exception("delivery broken off", delivery_id=claimed.delivery_id)

    async def _send(self, claimed: ClaimedDelivery, parcel: DeliveryAttempt) -> Outcome:
        box = EndpointSecrets(self._ports.secret_box, claimed.project_id)
        try:
            signing = box.open(parcel.endpoint_id, parcel.sealed)
        except SecretsUnreadable as error:
            log.exception(
                "no secret to sign with", endpoint_id=parcel.endpoint_id, error=str(error)
            )
            return Outcome(error="secret_unreadable")
        try:
            return await send_event(self._ports.egress, parcel.url, parcel.event, signing)
        except Exception:  # the boundary of one delivery: its fault must not end everybody's
            log.exception("delivery broke", delivery_id=claimed.delivery_id)
            return Outcome(error="internal_error")

    async def _note(
        self, claimed: ClaimedDelivery, parcel: DeliveryAttempt, outcome: Outcome
    ) -> None:
        delay_s = retry_delay_s(
            parcel.attempts + 1,
            chance=secrets.randbelow(_CHANCE_STEPS + 1) / _CHANCE_STEPS,
            retry_after=outcome.retry_after,
            now=time.time(),
        )
        async with held_delivery(self._ports.database, claimed) as unit:
            if outcome.delivered:
                await unit.delivery.delivered(parcel.endpoint_id, outcome)
            elif outcome.gone:
                await unit.delivery.disable(parcel.endpoint_id, outcome)
            elif delay_s is None:
                await unit.delivery.give_up(parcel.endpoint_id, outcome)
            else:
                await unit.delivery.retry(outcome, delay_s=delay_s)
        log.info(
            "webhook sent",
            delivery_id=claimed.delivery_id,
            event_id=parcel.event.id,
            attempt=parcel.attempts + 1,
            status_code=outcome.status_code,
            error=outcome.error,
            next_in_s=None if outcome.delivered or outcome.gone else delay_s,
        )
