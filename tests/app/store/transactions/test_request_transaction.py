"""Requests that occupy a connection until they end, shared out among organizations."""

from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from app.database import Database
from app.kit import transactions as request_transaction
from app.kit.errors import Unavailable
from app.kit.ids import OrganizationId, ProjectId
from tests.support import stack
from tests.support.store.rows import Rows


async def test_one_organization_leaves_a_transaction_to_another(
    rows: Rows, database: stack.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_transaction, "_SLOT_TIMEOUT_S", 0.0)
    app = Database(database.app_url)
    sibling = replace(rows.first, project_id=ProjectId("proj_sibling"))
    stranger = replace(
        rows.first, organization_id=OrganizationId("org_other"), project_id=ProjectId("proj_other")
    )
    async with AsyncExitStack() as held:
        held.push_async_callback(app.dispose)
        for _ in range(3):
            await held.enter_async_context(app.request(rows.first))
        with pytest.raises(Unavailable, match="Too many requests"):
            await held.enter_async_context(app.request(rows.first))
        await held.enter_async_context(app.request(sibling))
        with pytest.raises(Unavailable, match="Too many requests"):
            await held.enter_async_context(app.request(sibling))
        await held.enter_async_context(app.request(stranger))
