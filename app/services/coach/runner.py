"""Takes the steps of due sessions in the background of one API process.

Any number of processes do so: a claim gives each session to one of them for the time of a step, and
a session waits in its row, so that no process holds one between two steps.
"""

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Final

import structlog

from app.domain.accounts.tenants import Tenant
from app.domain.errors import LeaseLost, Unavailable
from app.services.coach.driver import CoachDriver
from app.store.database import CoachClaim, Database

log = structlog.get_logger()

LEASE_S: Final = 120.0
"""Time of a claim, longer than a step takes: files and rollouts are read in it. It is the longest
delay that a killed process causes.
"""
AT_ONCE: Final = 2
"""Sessions that one process claims at a time."""


class CoachRunner:
    def __init__(
        self,
        database: Database,
        driver_of: Callable[[Tenant], CoachDriver],
        *,
        poll_s: float,
        lease_s: float = LEASE_S,
    ) -> None:
        """`poll_s`: seconds between two looks for due sessions while there are none; 0 takes no
        steps.
        """
        self._database = database
        self._driver_of = driver_of
        self._poll_s = poll_s
        self._lease_s = lease_s
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._poll_s:
            self._task = asyncio.create_task(self._run(), context=Context())

    async def aclose(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def take_due_steps(self) -> int:
        """Takes a step of each session that is due, up to a few. Returns their number."""
        claims = await self._database.claim_coach_sessions(AT_ONCE, self._lease_s)
        await asyncio.gather(*(self._step(claim) for claim in claims))
        return len(claims)

    async def _run(self) -> None:
        while True:
            taken = 0
            try:
                taken = await self.take_due_steps()
            except Unavailable as error:
                log.warning("sessions of the coach not claimed", error=str(error))
            except Exception:  # such as a database that is not migrated yet
                log.exception("sessions of the coach not claimed")
            if not taken:
                await asyncio.sleep(self._poll_s)

    async def _step(self, claim: CoachClaim) -> None:
        named = {"session_id": claim.lease.id, "project_id": claim.lease.project_id}
        try:
            await self._driver_of(claim.tenant).step(claim)
        except LeaseLost:
            log.info("session of the coach gone", **named)
        except Unavailable as error:
            # The lease ends, and the step is taken again.
            log.warning("step of the coach not taken", error=str(error), **named)
        except Exception:  # a fault of one session must not end the steps of others
            log.exception("step of the coach failed", **named)
