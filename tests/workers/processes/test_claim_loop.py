"""The one loop in which rows of every kind are claimed and worked on."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import structlog

from app.kit.errors import Unavailable
from app.kit.leases import Lease
from tests.support.cases import cases
from tests.support.patience import PATIENCE_S
from workers.processes import leased_work as claim_loop
from workers.processes import retry
from workers.processes.leased_work import ClaimLoop

FIRST, SECOND = Lease("row_1", "proj", 1), Lease("row_2", "proj", 1)


class Rows:
    """Gives the claims that a test lists, one list or error each, then none."""

    def __init__(self, *claims: list[Lease] | Unavailable, is_child: bool = False) -> None:
        self.claims = list(claims)
        self.is_child = is_child
        self.started: list[str] = []
        self.ended: list[str] = []
        self.both_started, self.may_end = asyncio.Event(), asyncio.Event()

    async def claim(self) -> list[Lease]:
        found = self.claims.pop(0) if self.claims else []
        if isinstance(found, Unavailable):
            raise found
        return found

    def start(self, lease: Lease) -> Coroutine[Any, Any, None] | None:
        self.started.append(lease.id)
        if len(self.started) == len((FIRST, SECOND)):
            self.both_started.set()
        return None if self.is_child else self._work(lease)

    async def _work(self, lease: Lease) -> None:
        try:
            await self.may_end.wait()
        finally:
            self.ended.append(lease.id)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claim_loop, "POLL_S", 0.0)
    monkeypatch.setattr(retry, "_FIRST_DELAY_S", 0.0)


def _loop(rows: Rows) -> ClaimLoop:
    return ClaimLoop(rows.claim, rows.start, patience_s=PATIENCE_S)


async def test_each_claimed_row_is_worked_on_beside_the_others() -> None:
    rows = Rows([FIRST], [SECOND])
    running = asyncio.create_task(_loop(rows).run(idle_s=0))
    await rows.both_started.wait()
    assert rows.ended == []
    rows.may_end.set()
    await running
    assert (rows.started, sorted(rows.ended)) == (["row_1", "row_2"], ["row_1", "row_2"])


async def test_a_database_that_is_unavailable_ends_no_work_and_the_next_claim_is_made() -> None:
    rows = Rows([FIRST], Unavailable("gone"), Unavailable("still gone"), [SECOND])
    with structlog.testing.capture_logs() as logs:
        running = asyncio.create_task(_loop(rows).run(idle_s=0))
        await rows.both_started.wait()
        rows.may_end.set()
        await running
    assert [(line["event"], line["error"]) for line in logs] == [
        ("unavailable, waiting", "gone"),
        ("unavailable, waiting", "still gone"),
    ]
    assert sorted(rows.ended) == ["row_1", "row_2"]


async def test_a_loop_for_one_claim_waits_for_the_database_too_and_claims_once() -> None:
    rows = Rows(Unavailable("gone"), [FIRST], [SECOND])
    rows.may_end.set()
    await _loop(rows).run_once()
    assert (rows.started, rows.ended, rows.claims) == (["row_1"], ["row_1"], [[SECOND]])


async def _run_for_long(loop: ClaimLoop) -> None:
    await loop.run(idle_s=60)


@cases("ends", [_run_for_long, ClaimLoop.run_once])
async def test_work_that_still_runs_is_over_once_a_cancelled_loop_has_ended(
    ends: Callable[[ClaimLoop], Coroutine[Any, Any, None]],
) -> None:
    rows = Rows([FIRST, SECOND])
    running = asyncio.create_task(ends(_loop(rows)))
    await rows.both_started.wait()
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert sorted(rows.ended) == ["row_1", "row_2"]


async def test_an_error_of_one_row_ends_the_loop_and_the_work_on_the_others() -> None:
    rows = Rows([FIRST, SECOND])
    work = rows.start

    async def fails() -> None:
        raise LookupError

    rows.start = lambda lease: fails() if lease is SECOND else work(lease)  # type: ignore[method-assign]  # a kind of its own
    with pytest.raises(LookupError):
        await _loop(rows).run(idle_s=0)
    assert rows.ended == ["row_1"]


async def test_a_row_of_a_child_process_is_claimed_once_and_nothing_is_left_to_wait_for() -> None:
    rows = Rows([FIRST], [SECOND], is_child=True)
    loop = _loop(rows)
    await loop.run_once()
    assert rows.started == ["row_1"]
    assert await loop.claim() is True
    assert await loop.claim() is False


async def test_a_claim_without_patience_leaves_an_absent_database_to_its_caller() -> None:
    rows = Rows(Unavailable("gone"), [FIRST])
    with pytest.raises(Unavailable, match="gone"):
        await ClaimLoop(rows.claim, rows.start, patience_s=0).run_once()
    assert (rows.started, rows.claims) == ([], [[FIRST]])
