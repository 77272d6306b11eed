"""Sessions of the Coach as rows, and the entries of their logbooks."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Final

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, func, insert, select, text, update
from sqlalchemy.dialects.postgresql import insert as upsert
from typing_extensions import override

from app.accounts.store import refuse_archived
from app.kit.callers import Tenant
from app.kit.errors import WrongState
from app.kit.leases import Lease, LeasedRows, is_held, lease_lost
from app.kit.sql import PROJECT, Keyset, ProjectRows, from_row, storable
from app.kit.transactions import BaseUnitOfWork, Sessions, of_session
from app.teaching.coach.sessions import (
    OPEN_SESSIONS,
    CoachOptions,
    CoachOutcome,
    CoachSession,
    CoachStatus,
    LogbookEntry,
    SessionProgress,
    no_session,
)
from app.teaching.coach.tables import OPEN
from app.teaching.coach.tables import CoachEntryTable as Logbook
from app.teaching.coach.tables import CoachSessionTable as Table

_OPTIONS: Final = TypeAdapter(CoachOptions)
_PROGRESS: Final = TypeAdapter(SessionProgress)


class CoachSessionStore(ProjectRows):
    async def insert(self, session: CoachSession, tenant: Tenant, *, secrets: bytes | None) -> None:
        """Raises `WrongState` while another session teaches the student."""
        await refuse_archived(self._session, self._project_id)
        made = await self._session.scalar(
            upsert(Table)
            .values(
                project_id=self._project_id,
                id=session.id,
                organization_id=tenant.organization_id,
                organization_slug=tenant.organization_slug,
                key_id=tenant.key_id,
                student=session.student,
                status=session.status.value,
                options=_OPTIONS.dump_python(session.options, mode="json"),
                training_file=session.training_file,
                validation_file=session.validation_file,
                method=storable(dict(session.method)),
                secrets=secrets,
                labels=session.metadata,
                progress=_progress(session.progress),
            )
            .on_conflict_do_nothing(
                index_elements=[Table.project_id, Table.student],
                # As text: a generic plan cannot match parameters with the index's condition.
                index_where=text(OPEN),
            )
            .returning(Table.id)
        )
        if made is None:
            raise WrongState(
                f"Another Coach session teaches student '{session.student}': cancel it, or wait "
                "for its end.",
                param="student",
                code="coach_session_open",
            )

    async def get(self, session_id: str, *, locked: bool = False) -> CoachSession:
        """Raises `NotFound`. A locked row keeps its status until the transaction ends."""
        query = select(Table).where(*self._of(session_id))
        query = query.execution_options(populate_existing=True)
        row = await self._session.scalar(query.with_for_update() if locked else query)
        if row is None:
            raise no_session(session_id)
        return _to_session(row)

    async def held(self, lease: Lease) -> CoachSession:
        """Returns the session, locked at the fence. Raises `LeaseLost` once it moved on."""
        held = is_held(Table, lease, states=(CoachStatus.RUNNING.value,))
        query = select(Table).where(held).execution_options(populate_existing=True)
        row = await self._session.scalar(query.with_for_update())
        if row is None:
            raise lease_lost(lease)
        return _to_session(row)

    async def secrets(self, session_id: str) -> bytes | None:
        return await self._session.scalar(select(Table.secrets).where(*self._of(session_id)))

    async def page(
        self, *, student: str | None, after: str | None, limit: int
    ) -> tuple[list[CoachSession], bool]:
        own = [Table.project_id == self._project_id]
        named = [] if student is None else [Table.student == student]
        page, more = await Keyset((Table.created_at, Table.id), descending=True).page(
            self._session,
            select(Table).where(*own, *named).execution_options(populate_existing=True),
            after=after,
            cursor=[*own, Table.id == after],
            limit=limit,
        )
        return [_to_session(row) for row in page], more

    async def open_of(self, student: str) -> list[CoachSession]:
        rows = await self._session.scalars(
            select(Table)
            .where(
                Table.project_id == self._project_id,
                Table.student == student,
                Table.status.in_(OPEN_SESSIONS),
            )
            .with_for_update()
        )
        return [_to_session(row) for row in rows]

    async def write(
        self,
        session_id: str,
        *,
        status: CoachStatus,
        progress: SessionProgress,
        outcome: CoachOutcome | None = None,
        reason: str | None = None,
        wait_s: float = 0.0,
    ) -> None:
        """Writes what changed, and ends the lease; the next step is due after `wait_s`."""
        ended = status not in OPEN_SESSIONS
        await self._session.execute(
            update(Table)
            .where(*self._of(session_id))
            .values(
                status=status.value,
                progress=_progress(progress),
                outcome=outcome,
                reason=reason,
                lease_until=None,
                next_step_at=func.now() + timedelta(seconds=wait_s),
                finished_at=func.now() if ended else None,
            )
        )

    async def append(self, session_id: str, entries: Sequence[LogbookEntry]) -> None:
        if not entries:
            return
        of = (Logbook.project_id == self._project_id, Logbook.session_id == session_id)
        last = await self._session.scalar(select(func.max(Logbook.number)).where(*of)) or 0
        await self._session.execute(
            insert(Logbook),
            [
                {
                    "project_id": self._project_id,
                    "session_id": session_id,
                    "number": last + position,
                    "kind": entry.kind,
                    "text": storable(entry.text),
                    "data": storable(dict(entry.data)),
                }
                for position, entry in enumerate(entries, start=1)
            ],
        )

    async def logbook(
        self, session_id: str, *, after: int, limit: int
    ) -> tuple[list[LogbookEntry], bool]:
        rows = (
            await self._session.scalars(
                select(Logbook)
                .where(
                    Logbook.project_id == self._project_id,
                    Logbook.session_id == session_id,
                    Logbook.number > after,
                )
                .order_by(Logbook.number)
                .limit(limit + 1)
            )
        ).all()
        return [from_row(LogbookEntry, row) for row in rows[:limit]], len(rows) > limit

    def _of(self, session_id: str) -> tuple[ColumnElement[bool], ...]:
        return (Table.project_id == self._project_id, Table.id == session_id)


def _progress(progress: SessionProgress) -> dict[str, Any]:
    stored: dict[str, Any] = storable(_PROGRESS.dump_python(progress, mode="json"))
    return stored


def _to_session(row: Table) -> CoachSession:
    return from_row(
        CoachSession,
        row,
        status=CoachStatus(row.status),
        options=_OPTIONS.validate_python(row.options),
        metadata=row.labels,
        progress=_PROGRESS.validate_python(row.progress),
    )


_DUE = text("SELECT * FROM due_coach_sessions(:at_most)")


class LeasedCoachSessions(LeasedRows):
    table: ClassVar[type[Table]] = Table
    open_states = (CoachStatus.RUNNING.value,)

    async def due(self, at_most: int) -> list[tuple[Tenant, str]]:
        rows = await self._session.execute(_DUE, {"at_most": at_most})
        return [
            (
                Tenant(
                    organization_id=row.organization_id,
                    project_id=row.project_id,
                    organization_slug=row.organization_slug,
                    key_id=row.key_id,
                ),
                row.id,
            )
            for row in rows
        ]

    async def claim(self, project_id: str, session_id: str, lease_s: float) -> list[Lease]:
        chosen = select(Table.project_id, Table.id).where(
            Table.project_id == project_id, Table.id == session_id, Table.next_step_at <= func.now()
        )
        return await self.claim_chosen(chosen, lease_s)

    @override
    def changes_of_claim(self) -> Mapping[str, Any]:
        return {"claimed_at": func.now()}


class _Claims(BaseUnitOfWork):
    leases = of_session(LeasedCoachSessions)


async def claim_due(sessions: Sessions, at_most: int, lease_s: float) -> list[tuple[Tenant, Lease]]:
    async with _Claims(sessions, {}) as unit:
        due = await unit.leases.due(at_most)
    claimed: list[tuple[Tenant, Lease]] = []
    for tenant, session_id in due:
        async with _Claims(sessions, {PROJECT: tenant.project_id}) as unit:
            leases = await unit.leases.claim(tenant.project_id, session_id, lease_s)
        claimed += [(tenant, lease) for lease in leases]
    return claimed
