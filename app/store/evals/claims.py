"""Eval runs across tenants, for the worker's role only: claim, renew, release, sweep; and the
transaction of the worker that holds one.

The same rules as for jobs: a lease in the row, a fence that rises with every claim.
"""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement
from typing_extensions import override

from app.domain.errors import LeaseLost
from app.domain.evals.evals import OPEN_RUNS, EvalRunStatus
from app.domain.events.webhooks import RUN_EVENTS
from app.store.database import Database
from app.store.evals.eval_items import EvalItemStore
from app.store.evals.eval_runs import LeasedEvalRunStore
from app.store.evals.evals import EvalStore
from app.store.files.files import FileStore
from app.store.models.models import ModelStore
from app.store.schema.eval_runs import EvalRunTable as Table
from app.store.unit_of_work import BaseUnitOfWork, Sessions
from app.store.webhooks.webhook_events import emit, set_tenant


@dataclass(frozen=True, slots=True)
class ClaimedEvalRun:
    run_id: str
    project_id: str
    fence: int


class EvalClaimUnitOfWork(BaseUnitOfWork):
    @override
    async def _open(self, session: AsyncSession) -> None:
        self.runs = EvalClaimStore(session)


def eval_claims(database: Database) -> EvalClaimUnitOfWork:
    """A transaction that sees the eval runs of all tenants. Only the worker's role gets any row."""
    return EvalClaimUnitOfWork(database.sessions, {"app.system": "on"})


class EvalRunUnitOfWork(BaseUnitOfWork):
    """A transaction of the worker that holds a run: locks its row, or raises `LeaseLost`."""

    def __init__(self, sessions: Sessions, claimed: ClaimedEvalRun) -> None:
        super().__init__(sessions, {"app.project": claimed.project_id})
        self._claimed = claimed

    @override
    async def _open(self, session: AsyncSession) -> None:
        claimed = self._claimed
        held = await session.scalar(
            select(Table.id)
            .where(
                Table.id == claimed.run_id,
                Table.fence == claimed.fence,
                Table.status == EvalRunStatus.IN_PROGRESS.value,
            )
            .with_for_update(key_share=True)
        )
        if held is None:
            raise LeaseLost(f"{claimed.run_id} is no longer held at fence {claimed.fence}")
        self.run = LeasedEvalRunStore(session, claimed.project_id, claimed.run_id)
        self.items = EvalItemStore(session, claimed.project_id)
        self.evals = EvalStore(session, claimed.project_id)
        self.files = FileStore(session, claimed.project_id)
        self.models = ModelStore(session, claimed.project_id)


def held_eval_run(database: Database, claimed: ClaimedEvalRun) -> EvalRunUnitOfWork:
    return EvalRunUnitOfWork(database.sessions, claimed)


class EvalClaimStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def claim(
        self, run_id: str, owner: str, lease_s: float, *, max_attempts: int
    ) -> ClaimedEvalRun | None:
        """Take the lease with a new fence, or `None`: somebody holds it, or nothing is to do."""
        row = (
            await self._session.execute(
                update(Table)
                .where(Table.id == run_id, Table.attempts < max_attempts, _open(), _unheld())
                .values(
                    status=EvalRunStatus.IN_PROGRESS.value,
                    started_at=func.coalesce(Table.started_at, func.now()),
                    fence=Table.fence + 1,
                    attempts=Table.attempts + 1,
                    lease_owner=owner,
                    lease_until=func.now() + timedelta(seconds=lease_s),
                )
                .returning(Table.id, Table.project_id, Table.fence)
            )
        ).one_or_none()
        return None if row is None else ClaimedEvalRun(row.id, row.project_id, row.fence)

    async def renew(self, claimed: ClaimedEvalRun, lease_s: float) -> None:
        """Keep the lease. Raises `LeaseLost` after a cancel, a deletion or a newer claim."""
        await self._lease(claimed, timedelta(seconds=lease_s))

    async def release(self, claimed: ClaimedEvalRun) -> None:
        """Give the run back, so that the next sweep can wake somebody for it."""
        await self._lease(claimed, timedelta(seconds=-1))

    async def _lease(self, claimed: ClaimedEvalRun, duration: timedelta) -> None:
        held = await self._session.scalar(
            update(Table)
            .where(Table.id == claimed.run_id, Table.fence == claimed.fence, _open())
            .values(lease_until=func.now() + duration)
            .returning(Table.id)
        )
        if held is None:
            raise LeaseLost(f"{claimed.run_id} is no longer held at fence {claimed.fence}")

    async def due(self, limit: int, resend_after_s: float) -> list[str]:
        """Runs that wait for a worker nobody woke lately; marks them as woken now."""
        unsent = or_(
            Table.dispatched_at.is_(None),
            Table.dispatched_at < func.now() - timedelta(seconds=resend_after_s),
            # The lease ran out after the last wake-up: its worker is gone.
            Table.lease_until > Table.dispatched_at,
        )
        wanted = (
            select(Table.id)
            .where(_open(), _unheld(), unsent)
            .order_by(Table.created_at)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        ids = list(await self._session.scalars(wanted))
        if ids:
            await self._session.execute(
                update(Table).where(Table.id.in_(ids)).values(dispatched_at=func.now())
            )
        return ids

    async def fail_exhausted(self, max_attempts: int) -> list[str]:
        """End runs that lost their worker too often to be claimed again."""
        message = f"The run's worker died {max_attempts} times without progress."
        ended = await self._session.execute(
            update(Table)
            .where(_open(), _unheld(), Table.attempts >= max_attempts)
            .values(
                status=EvalRunStatus.FAILED.value,
                error={"code": "worker_lost", "message": message},
                finished_at=func.now(),
            )
            .returning(Table.id, Table.project_id)
        )
        event_type, ids = RUN_EVENTS[EvalRunStatus.FAILED], list[str]()
        for run_id, project_id in ended.all():
            await set_tenant(self._session, project_id)
            await emit(self._session, project_id, event_type, run_id)
            ids.append(run_id)
        return ids


def _open() -> ColumnElement[bool]:
    return Table.status.in_([status.value for status in OPEN_RUNS])


def _unheld() -> ColumnElement[bool]:
    return or_(Table.lease_until.is_(None), Table.lease_until < func.now())
