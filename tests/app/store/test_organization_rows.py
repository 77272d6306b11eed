"""Rows that an organization reads and its projects do not, or only their own."""

import pytest
from sqlalchemy.exc import ProgrammingError

from app.accounts.audit import AuditFilter
from app.accounts.usage import UsageQuery, buckets_of
from app.database import UnitOfWork
from app.kit.callers import Actor, Tenant, act_as
from tests.support.store.rows import Rows, a_usage, owner_of

QUERY = UsageQuery("completions", 0, 86_400)


async def usage(unit: UnitOfWork) -> int:
    async with unit:
        [bucket] = await unit.usage.fill(QUERY, buckets_of(QUERY, first_s=0, limit=1))
    return sum(one.amounts.requests for one in bucket.sums)


async def entries(unit: UnitOfWork, owner: Tenant) -> list[str]:
    async with unit:
        found, _ = await unit.audit_logs.page(owner.organization_id, AuditFilter(), limit=9)
    return [entry.type for entry in found]


async def test_an_organization_reads_its_own_and_a_project_its_usage(rows: Rows) -> None:
    act_as(Actor("api_key", "key_x", "192.0.2.7"))
    await rows.job()
    async with rows.app.tenant(rows.first) as unit:
        await unit.usage.insert([a_usage()], **owner_of(rows.first))
    act_as(None)
    await rows.job()  # the service's own
    first, second = rows.first, rows.second
    for owner, own in ((first, 1), (second, 0)):
        assert await usage(rows.app.tenant(owner)) == own
        assert await usage(rows.app.organization(owner.organization_id)) == own
        created = ["fine_tuning.job.created", "file.created", "file.created"] * own
        assert await entries(rows.app.organization(owner.organization_id), owner) == created
    assert await entries(rows.app.tenant(first), first) == []


async def test_usage_is_recorded_for_the_own_project_only(rows: Rows) -> None:
    with pytest.raises(ProgrammingError, match="row-level security"):
        async with rows.app.tenant(rows.second) as unit:
            await unit.usage.insert([a_usage()], **owner_of(rows.first))
