"""Leases over every kind of row that waits in a queue, on a real Postgres."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import column, text
from sqlalchemy.exc import ProgrammingError

from app.across_tenants import ClaimUnitOfWork
from app.kit.errors import LeaseLost
from app.kit.leases import Lease, QueuedRows
from tests.support import stack
from tests.support.store.claims import claim_row
from tests.support.store.leased_kinds import KINDS, HeldRow, LeasedKind, connect
from tests.support.store.rows import Rows

LEASE_S = 30.0


class Leases:
    """Short calls on one kind of row, each in a transaction of its own."""

    def __init__(self, kind: LeasedKind, rows: Rows, database: stack.Database) -> None:
        self.kind, self.rows, self._database = kind, rows, database

    async def row(self) -> str:
        return await self.kind.insert(self.rows, self._database)

    def unit(self) -> ClaimUnitOfWork[QueuedRows]:
        return self.kind.claims(self.rows.worker)

    def held(self, lease: Lease) -> HeldRow:
        return HeldRow(self.rows.worker, self.kind, lease)

    async def try_claim(
        self, row_id: str, *, lease_s: float = LEASE_S, owner: str = "w"
    ) -> Lease | None:
        return await claim_row(self.unit(), row_id, owner=owner, lease_s=lease_s, max_attempts=3)

    async def claim(self, row_id: str, *, lease_s: float = LEASE_S) -> Lease:
        lease = await self.try_claim(row_id, lease_s=lease_s)
        assert lease is not None
        return lease

    async def renew(self, lease: Lease) -> None:
        async with self.unit() as unit:
            await unit.leases.renew(lease, LEASE_S)

    async def due(self, *, limit: int = 10, resend_after_s: float = 30) -> list[str]:
        async with self.unit() as unit:
            return await unit.leases.due(limit, resend_after_s)

    async def exhausted(self) -> list[Lease]:
        async with self.unit() as unit:
            return await unit.leases.exhausted(3)

    def stored(self, row_id: str, expression: str) -> Any:
        query = f"SELECT {expression} FROM {self.table} WHERE id = %s"
        with connect(self._database) as connection:
            row = connection.execute(query.encode(), (row_id,)).fetchone()
        assert row is not None
        return row[0] if len(row) == 1 else row

    def set(self, row_id: str, assignment: str) -> None:
        change = f"UPDATE {self.table} SET {assignment} WHERE id = %s"
        with connect(self._database) as connection:
            connection.execute(change.encode(), (row_id,))

    @property
    def table(self) -> str:
        return self.kind.table


@pytest.fixture(params=list(KINDS))
def leases(request: pytest.FixtureRequest, rows: Rows, database: stack.Database) -> Leases:
    return Leases(KINDS[request.param], rows, database)


of_one_kind = pytest.mark.parametrize("leases", [next(iter(KINDS))], indirect=True)
"""For what no kind has a statement of its own for."""


async def test_of_many_claimers_one_gets_the_lease(leases: Leases) -> None:
    row_id = await leases.row()
    claims = [leases.try_claim(row_id, owner=f"w{number}") for number in range(8)]
    won = [(number, lease) for number, lease in enumerate(await asyncio.gather(*claims)) if lease]
    [(winner, lease)] = won
    assert lease == Lease(row_id, leases.rows.first.project_id, fence=1, attempts=1)
    assert leases.stored(row_id, "lease_owner") == f"w{winner}"
    assert await leases.try_claim(row_id) is None
    assert leases.stored(row_id, "fence") == 1


@of_one_kind
async def test_an_expired_lease_is_claimed_with_a_higher_fence(leases: Leases) -> None:
    row_id = await leases.row()
    old = await leases.claim(row_id, lease_s=-1)
    new = await leases.claim(row_id)
    assert (old.fence, new.fence, new.attempts) == (1, 2, 2)
    with pytest.raises(LeaseLost, match=f"{row_id} is no longer held at fence 1"):
        await leases.renew(old)
    await leases.renew(new)


@of_one_kind
async def test_a_renewal_moves_the_end_of_the_lease_on_the_databases_clock(leases: Leases) -> None:
    row_id = await leases.row()
    lease = await leases.claim(row_id, lease_s=-1)
    assert leases.stored(row_id, "lease_until < now()") is True
    await leases.renew(lease)
    rest_s = leases.stored(row_id, "extract(epoch FROM lease_until - now())")
    assert LEASE_S - 20 < rest_s <= LEASE_S
    assert await leases.try_claim(row_id) is None


async def test_the_lease_of_an_ended_row_is_lost(leases: Leases) -> None:
    row_id = await leases.row()
    lease = await leases.claim(row_id)
    async with leases.unit() as unit:
        await unit.leases.fail(lease, "why")
    with pytest.raises(LeaseLost):
        await leases.renew(lease)
    async with leases.unit() as unit:
        assert await unit.leases.release(lease, orderly=True, back_off=True) is None
    assert leases.stored(row_id, "attempts") == 1
    leases.set(row_id, "lease_until = NULL")
    assert await leases.try_claim(row_id) is None
    assert await leases.due() == []


async def test_a_row_is_exhausted_once_its_attempts_are_used_up_and_no_lease_runs(
    leases: Leases,
) -> None:
    row_id, other = await leases.row(), await leases.row()
    await leases.claim(other, lease_s=-1)
    for _ in range(2):
        await leases.claim(row_id, lease_s=-1)
    assert await leases.exhausted() == []
    last = await leases.claim(row_id)
    assert await leases.exhausted() == [], "the third attempt still runs"
    leases.set(row_id, "lease_until = now() - interval '1 second'")
    assert await leases.try_claim(row_id) is None
    assert await leases.exhausted() == [last]
    assert last.attempts == 3


@of_one_kind
async def test_two_sweepers_do_not_end_the_same_row(leases: Leases) -> None:
    row_id = await leases.row()
    for _ in range(3):
        await leases.claim(row_id, lease_s=-1)
    async with leases.unit() as first:
        [lost] = await first.leases.exhausted(3)
        assert await leases.exhausted() == [], "the first sweeper has locked it"
        await first.leases.fail(lost, "why")
    assert await leases.exhausted() == []
    assert leases.stored(row_id, "status") == "failed"


@of_one_kind
@pytest.mark.parametrize(("orderly", "counted"), [(True, 0), (False, 1)])
async def test_a_released_row_can_be_claimed_at_once(
    leases: Leases, orderly: bool, counted: int
) -> None:
    row_id = await leases.row()
    lease = await leases.claim(row_id)
    async with leases.unit() as unit:
        assert await unit.leases.release(lease, orderly=orderly, back_off=True) == counted
    again = await leases.claim(row_id)
    assert (again.fence, again.attempts) == (2, counted + 1)
    async with leases.unit() as unit:
        assert await unit.leases.release(lease, orderly=orderly, back_off=True) is None
    assert leases.stored(row_id, "lease_until > now()") is True, "an old fence releases nothing"


@of_one_kind
@pytest.mark.parametrize("back_off", [True, False])
async def test_a_release_states_whether_the_sweeper_waits(leases: Leases, back_off: bool) -> None:
    row_id = await leases.row()
    lease = await leases.claim(row_id)
    leases.set(row_id, "dispatched_at = now() - interval '10 seconds'")
    async with leases.unit() as unit:
        await unit.leases.release(lease, orderly=False, back_off=back_off)
    assert await leases.due() == ([] if back_off else [row_id])


@of_one_kind
async def test_a_row_is_due_again_after_the_resend_time_or_once_its_lease_has_ended(
    leases: Leases,
) -> None:
    row_id = await leases.row()
    assert await leases.due() == [row_id]
    assert await leases.due() == []
    assert await leases.due(resend_after_s=-1) == [row_id]
    await leases.claim(row_id)
    assert await leases.due(resend_after_s=-1) == [], "a worker holds it"
    leases.set(
        row_id,
        "dispatched_at = now() - interval '5 seconds', lease_until = now() - interval '1 second'",
    )
    assert await leases.due() == [row_id], "its worker was lost after the notification"


@of_one_kind
async def test_due_rows_come_oldest_first_and_two_sweepers_share_them(leases: Leases) -> None:
    ids = [await leases.row() for _ in range(4)]
    for age, row_id in enumerate(ids):
        leases.set(row_id, f"created_at = now() - interval '{age + 1} minutes'")
    async with leases.unit() as first:
        assert await first.leases.due(2, 30) == [ids[3], ids[2]]
        assert await leases.due() == [ids[1], ids[0]], "locked rows are left to the first"
    assert await leases.due() == []


async def test_only_the_newest_claim_can_lock_its_row(leases: Leases) -> None:
    row_id = await leases.row()
    old = await leases.claim(row_id, lease_s=-1)
    new = await leases.claim(row_id)
    for lease in (old, replace(new, project_id=leases.rows.second.project_id)):
        with pytest.raises(LeaseLost):
            async with leases.held(lease):
                pass
    leases.set(row_id, "lease_until = now() - interval '1 second'")
    async with leases.held(new):
        assert await leases.try_claim(row_id) is None, "its holder's transaction still writes"
    assert (await leases.claim(row_id)).fence == 3


@of_one_kind
async def test_chosen_rows_are_claimed_together_without_those_that_are_locked(
    leases: Leases,
) -> None:
    ids = [await leases.row() for _ in range(3)]
    locked = await leases.claim(ids[0], lease_s=-1)
    chosen = text(f"SELECT project_id, id FROM {leases.table} WHERE id <> :spared")
    named = chosen.bindparams(spared=ids[2]).columns(column("project_id"), column("id"))
    async with leases.held(locked), leases.unit() as unit:
        [lease] = await unit.leases.claim_chosen(named, LEASE_S)
    assert lease == Lease(ids[1], leases.rows.first.project_id, fence=1)
    assert leases.stored(ids[1], "lease_until > now()") is True
    assert [leases.stored(row_id, "fence") for row_id in ids] == [1, 1, 0]
    assert leases.stored(ids[1], "attempts") == 0


async def test_the_apis_role_claims_nothing(leases: Leases) -> None:
    row_id = await leases.row()
    with pytest.raises(ProgrammingError, match="permission denied"):
        await claim_row(leases.kind.claims(leases.rows.app), row_id)
    async with leases.kind.claims(leases.rows.app) as unit:
        assert await unit.leases.due(10, 30) == []
        assert await unit.leases.exhausted(0) == []
    assert leases.stored(row_id, "fence") == 0


async def test_only_an_end_by_the_holder_leaves_nothing_to_renew(leases: Leases) -> None:
    lease = await leases.claim(await leases.row())

    async def ended(of: Lease) -> bool:
        async with leases.unit() as unit:
            return await unit.leases.ended_by_holder(of)

    assert not await ended(lease)
    for state in leases.kind.rows.end_states:
        leases.set(lease.id, f"status = '{state}'")
        assert await ended(lease)
        assert not await ended(replace(lease, fence=lease.fence - 1))
    for spelling in ("cancelled", "canceled"):
        leases.set(lease.id, f"status = '{spelling}'")
        assert not await ended(lease)
