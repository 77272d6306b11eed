import math
from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from app.files.files import NewFile
from app.files.service import file_row
from app.jobs.claims import job_claims
from app.jobs.jobs import Checkpoint, Job
from app.kit.errors import InvalidRequest
from app.kit.ids import new_id
from app.kit.leases import Lease
from app.kit.objects import StoredObject
from app.kit.sql import storable
from app.models.models import TunedModel
from app.rollouts.metrics import MetricPoint
from app.rollouts.rollouts import RolloutFilter
from tests.support.store.claims import claimed_rows, run_unit
from tests.support.store.new_jobs import CREATED, insert_job_in
from tests.support.store.rows import Rows, a_job, a_rollout

ALL, FIRST_STEP = RolloutFilter(), RolloutFilter(split="train", step=1)


async def held_again(rows: Rows, job: Job) -> Lease:
    async with job_claims(rows.worker) as unit:
        await unit.leases.release(Lease(job.id, job.project_id, 1), orderly=False, back_off=True)
    return await claimed_rows(rows, job)


async def test_the_ledger_refuses_a_sample_that_is_there(rows: Rows) -> None:
    job = await rows.job()
    claimed = await claimed_rows(rows, job)
    async with run_unit(rows, claimed) as run:
        await run.rollouts.insert_many(job.id, [a_rollout(job.id, 0), a_rollout(job.id, 1)])
    with pytest.raises(IntegrityError, match="uq_rollouts_sample"):
        async with run_unit(rows, claimed) as run:
            await run.rollouts.insert_many(job.id, [a_rollout(job.id, 2), a_rollout(job.id, 1)])
    async with rows.app.tenant(rows.first) as unit:
        page, more = await unit.rollouts.page(job.id, ALL, after=None, limit=9)
    assert ([row.sample_index for row in page], more) == ([0, 1], False)


async def test_rollouts_page_in_order(rows: Rows) -> None:
    job = await rows.job()
    async with run_unit(rows, await claimed_rows(rows, job)) as run:
        await run.rollouts.insert_many(job.id, [a_rollout(job.id, n) for n in (3, 0, 4, 1, 2)])
    async with rows.app.tenant(rows.first) as unit:
        first, more = await unit.rollouts.page(job.id, FIRST_STEP, after=None, limit=3)
        rest, end = await unit.rollouts.page(job.id, FIRST_STEP, after=first[-1].id, limit=3)
    assert [row.sample_index for row in first + rest] == [0, 1, 2, 3, 4]
    assert (more, end) == (True, False)


async def test_text_that_postgres_cannot_hold_is_replaced(rows: Rows) -> None:
    job = await rows.job()
    async with run_unit(rows, await claimed_rows(rows, job)) as run:
        await run.rollouts.insert_many(job.id, [a_rollout(job.id, 0, "a\x00b\ud800c")])
        await run.events.append(job.id, message="\x00", data={"r": math.inf})
        await run.reports.upsert(job.id, {"\x00": [math.nan, 0.5]})
    async with rows.app.tenant(rows.first) as unit:
        (row,), _ = await unit.rollouts.page(job.id, ALL, after=None, limit=1)
        (event,), _ = await unit.events.page(job.id, after=None, limit=1)
        report = await unit.reports.get(job.id)
    assert row.trace["messages"][0]["content"] == "a\ufffdb\ufffdc"
    assert (event.message, event.data) == ("\ufffd", {"r": None})
    assert report == {"\ufffd": [None, 0.5]}
    assert storable({"k\x00": ["\ud800", 1, None]}) == {"k\ufffd": ["\ufffd", 1, None]}


async def test_the_journal_gives_back_exactly_what_was_put(rows: Rows) -> None:
    """A replay that reads other characters or numbers would sample other tokens."""
    job = await rows.job()
    payload = {
        "output": "a\x00b\ud800c\U0001f600 1e400 \u2028",
        "logprobs": [-0.1, -1e-308, -123456789.123456789, 0.1 + 0.2],
        "token_ids": [0, 2**53 + 1],
        "order": {"z": 1, "a": None},
    }
    async with run_unit(rows, await claimed_rows(rows, job)) as run:
        await run.journal.put_many(job.id, 1, [("k", "s", payload)])
    async with run_unit(rows, await held_again(rows, job)) as run:
        found = await run.journal.get_many(job.id, 1)
    assert found == {"k": ("s", payload)}
    assert list(found["k"][1]["order"]) == ["z", "a"]


async def test_of_two_equal_keys_in_one_call_the_last_stays(rows: Rows) -> None:
    job = await rows.job()
    async with run_unit(rows, await claimed_rows(rows, job)) as run:
        await run.journal.put_many(job.id, 1, [])
        await run.journal.put_many(job.id, 1, [("k", "s", {"v": 1}), ("k", "s", {"v": 2})])
        await run.metrics.upsert(
            job.id, [MetricPoint("m", "train", 1, 1.0), MetricPoint("m", "train", 1, 2.0)]
        )
        assert await run.journal.get_many(job.id, 1) == {"k": ("s", {"v": 2})}
        curve = await run.metrics.curve(job.id, names=["m"], split=None, after_step=None)
    assert curve == [MetricPoint("m", "train", 1, 2.0)]


async def test_a_checkpoint_is_written_once_per_step(rows: Rows) -> None:
    job = await rows.job()
    async with run_unit(rows, await claimed_rows(rows, job)) as run:
        for number, step in enumerate((1, 2, 2, 3)):
            row = Checkpoint(f"ftckpt_{number}", job.id, step, 0, f"ft:x:{number}", {"r": 0.5})
            await run.checkpoints.insert(row, object_key=f"k{number}")
    async with rows.app.tenant(rows.first) as unit:
        first, more = await unit.checkpoints.page(job.id, after=None, limit=2)
        rest, end = await unit.checkpoints.page(job.id, after=first[-1].id, limit=2)
    assert [(row.step, row.id) for row in first + rest] == [
        (3, "ftckpt_3"),
        (2, "ftckpt_1"),
        (1, "ftckpt_0"),
    ]
    assert (more, end) == (True, False)


async def test_a_checkpoint_that_is_not_kept_is_gone_with_its_model_and_nothing_else(
    rows: Rows,
) -> None:
    job = await rows.job()
    async with run_unit(rows, await claimed_rows(rows, job)) as run:
        for step in (1, 2, 3, 4):
            name = f"ft:t:o::a:ckpt-step-{step}"
            row = Checkpoint(f"ftckpt_{step}", job.id, step, 0, name, {"r": 0.5})
            await run.checkpoints.insert(row, object_key=f"k{step}")
            await run.models.insert(
                TunedModel(name, "", job.id, "tiny", f"model-{step}", f"k{step}", step, 0)
            )
        await run.models.insert(TunedModel("ft:t:o::a", "", job.id, "tiny", "model-a", "k2", 2, 0))
        assert await run.checkpoints.kept(job.id) == {1: "k1", 2: "k2", 3: "k3", 4: "k4"}
        await run.jobs.mark_retained([1, 4])
        await run.jobs.mark_ended_early({"rule": "plateau", "step": 4, "reason": "flat"})
        await run.jobs.record_reproducibility({"same_to_the_bit": True})
    async with rows.app.tenant(rows.first) as unit:
        shown, more = await unit.checkpoints.page(job.id, after=None, limit=1)
        rest, end = await unit.checkpoints.page(job.id, after="ftckpt_3", limit=1)
        assert [row.step for row in [*shown, *rest]] == [4, 1]
        assert (more, end) == (True, False)
        names = {model.name for model in await unit.models.all()}
        assert names == {"ft:t:o::a", "ft:t:o::a:ckpt-step-1", "ft:t:o::a:ckpt-step-4"}
        assert await unit.models.get("ft:t:o::a:ckpt-step-2") is None
        kept = await unit.jobs.get(job.id)
        assert await unit.checkpoints.object_keys(job.id) == {"k1", "k4"}
        assert [row.step for row in await unit.checkpoints.all(job.id)] == [1, 2, 3, 4]
    assert kept.method == job.method
    assert kept.ended_early == {"rule": "plateau", "step": 4, "reason": "flat"}
    assert kept.reproducibility == {"same_to_the_bit": True}


async def test_events_page_newest_first_while_more_arrive(rows: Rows) -> None:
    job = await rows.job()
    async with rows.app.tenant(rows.first) as unit:
        for number in range(4):
            await unit.events.append(job.id, message=str(number))
        first, more = await unit.events.page(job.id, after=None, limit=2)
        await unit.events.append(job.id, message="late")
        rest, end = await unit.events.page(job.id, after=first[-1].id, limit=3)
        with pytest.raises(InvalidRequest):
            await unit.events.page(job.id, after="ftevent-none", limit=2)
    assert [event.message for event in first + rest] == ["3", "2", "1", "0", CREATED]
    assert (more, end) == (True, False)


async def test_the_journal_forgets_committed_steps(rows: Rows) -> None:
    job = await rows.job()
    async with run_unit(rows, await claimed_rows(rows, job)) as run:
        await run.journal.put_many(job.id, 1, [("a", "1", {"v": 1}), ("b", "2", {})])
        await run.journal.put_many(job.id, 2, [("c", "3", {"v": 3})])
        await run.journal.put_many(job.id, 1, [("a", "9", {"v": 9})])
        assert await run.journal.get_many(job.id, 1) == {"a": ("9", {"v": 9}), "b": ("2", {})}
        await run.journal.forget(job.id, 1)
        assert await run.journal.get_many(job.id, 1) == {}
        assert await run.journal.get_many(job.id, 2) == {"c": ("3", {"v": 3})}


async def test_after_commit_runs_after_a_commit_only(rows: Rows) -> None:
    seen: list[str] = []

    async def note() -> None:
        seen.append("committed")

    with pytest.raises(RuntimeError):
        async with rows.app.tenant(rows.first) as unit:
            unit.after_commit(note)
            raise RuntimeError("no commit")
    assert seen == []
    async with rows.app.tenant(rows.first) as unit:
        unit.after_commit(note)
        assert seen == []
    assert seen == ["committed"]


async def test_a_failing_callback_undoes_nothing_and_stops_no_other(rows: Rows) -> None:
    seen: list[str] = []

    async def fail() -> None:
        raise RuntimeError("queue unavailable")

    async def note() -> None:
        seen.append("sent")

    job = a_job(rows.first)
    async with rows.app.tenant(rows.first) as unit:
        await insert_job_in(unit, job, secrets=b"sealed")
        unit.after_commit(fail)
        unit.after_commit(note)
    assert seen == ["sent"]
    async with rows.app.tenant(rows.first) as unit:
        assert (await unit.jobs.get(job.id)).id == job.id


async def test_a_stored_file_is_returned_as_every_later_read_shows_it(rows: Rows) -> None:
    stored, new = StoredObject(bytes=3, sha256="0" * 64), NewFile("a.jsonl", "fine-tune", 7200)
    made = replace(
        file_row(rows.first, new_id("file-"), stored, new), created_at=1000, expires_at=8200
    )
    async with rows.app.tenant(rows.first) as unit:
        returned = await unit.files.insert(made)
    async with rows.app.tenant(rows.first) as unit:
        assert await unit.files.get(made.id) == returned
    assert returned.created_at > 1000
    assert returned.expires_at == returned.created_at + 7200
