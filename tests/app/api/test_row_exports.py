"""A job's rollouts and curves as files: every row once, in both formats, equal to the lists."""

import asyncio
import io
import json
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from pyarrow import parquet
from pydantic import BaseModel
from starlette.types import Message

from app.kit.downloads import Table, table_reply
from app.rollouts.rollouts import RolloutRow
from app.rollouts.store import RolloutStore
from tests.support.api.application import Api
from tests.support.api.job_calls import JOBS
from tests.support.stack import Database

# 2 splits, 60 steps of 2 rows. Every fifth rollout was lost.
ROLLOUTS = """
    INSERT INTO rollouts (id, project_id, job_id, split, step, prompt_index, sample_index, attempt,
        trace_id, reward, failure_class, stop_reason, policy_version, prompt_tokens,
        completion_tokens, reasoning_tokens, tool_calls, components, trace, started_at, finished_at)
    SELECT 'ro_' || i, project_id, id, CASE WHEN i < 120 THEN 'train' ELSE 'valid' END,
        i / 2 %% 60, i %% 2, 0, 0, 't' || i, CASE WHEN i %% 5 = 4 THEN NULL ELSE i / 240.0 END,
        CASE WHEN i %% 5 = 4 THEN 'tool_timeout' END, NULL, i, 1, 2, 3, 4,
        jsonb_build_object('right', i), jsonb_build_object('note', 'é" ' || i), 0.5, 1.5
    FROM fine_tuning_jobs, generate_series(0, 239) AS i WHERE id = %(job)s
"""
POINTS = """
    INSERT INTO job_metrics (project_id, job_id, name, split, step, value)
    SELECT project_id, id, name, split, at, at / 7.0
    FROM fine_tuning_jobs, unnest(ARRAY['reward/mean', 'train/loss']) AS name,
        unnest(ARRAY['train', 'valid']) AS split, generate_series(1, 2600) AS at
    WHERE id = %(job)s
"""


def _execute(database: Database, statement: str, job: str) -> None:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(statement.encode(), {"job": job})


@pytest.fixture
async def job(api: Api, body: dict[str, Any], database: Database) -> str:
    job_id = str((await api.call("POST", JOBS, json=body)).json()["id"])
    _execute(database, ROLLOUTS, job_id)
    _execute(database, POINTS, job_id)
    return job_id


async def _lines(api: Api, path: str) -> list[dict[str, Any]]:
    reply = await api.call("GET", f"{JOBS}/{path}")
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "application/jsonl"
    return [json.loads(line) for line in reply.text.splitlines()]


async def _columns(api: Api, path: str) -> Any:
    reply = await api.call("GET", f"{JOBS}/{path}")
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "application/vnd.apache.parquet"
    return parquet.read_table(io.BytesIO(reply.content))


async def _listed(api: Api, job: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    more = True
    while more:
        after = f"&after={found[-1]['id']}" if found else ""
        page = (await api.call("GET", f"{JOBS}/{job}/rollouts?limit=100{after}")).json()
        found, more = found + page["data"], page["has_more"]
    return found


async def test_rollouts_are_exported_as_they_are_listed(api: Api, job: str) -> None:
    listed = await _listed(api, job)
    assert len(listed) == 240
    assert await _lines(api, f"{job}/rollouts/export") == listed
    columns = await _columns(api, f"{job}/rollouts/export?format=parquet")
    rows = columns.to_pylist()
    for row in rows:
        row["components"], row["trace"] = json.loads(row["components"]), json.loads(row["trace"])
    assert rows == listed
    assert str(columns.schema.field("reward").type) == "double"
    assert str(columns.schema.field("step").type) == "int64"


async def test_conditions_choose_what_is_exported(api: Api, job: str) -> None:
    lost = await _lines(api, f"{job}/rollouts/export?failed=true&split=valid")
    expected = [r for r in await _listed(api, job) if r["split"] == "valid" and r["failure_class"]]
    assert lost == expected
    assert len(lost) == 24


async def test_every_point_of_the_curves_is_exported(api: Api, job: str) -> None:
    points = await _lines(api, f"{job}/metrics/export")
    assert points == [
        {"name": name, "split": split, "step": step, "value": pytest.approx(step / 7)}
        for name in ("reward/mean", "train/loss")
        for split in ("train", "valid")
        for step in range(1, 2601)
    ]
    columns = await _columns(api, f"{job}/metrics/export?format=parquet")
    assert columns.to_pylist() == points
    one = await _lines(api, f"{job}/metrics/export?names=train/loss&split=valid")
    assert [point["step"] for point in one] == list(range(1, 2601))
    assert {(point["name"], point["split"]) for point in one} == {("train/loss", "valid")}


async def test_a_job_without_rows_is_an_empty_file(api: Api, body: dict[str, Any]) -> None:
    job = (await api.call("POST", JOBS, json=body)).json()["id"]
    for path in ("rollouts/export", "metrics/export"):
        assert await _lines(api, f"{job}/{path}") == []
        assert (await _columns(api, f"{job}/{path}?format=parquet")).num_rows == 0
    reply = await api.call("GET", f"{JOBS}/{job}/rollouts/export?format=parquet")
    assert reply.headers["content-disposition"] == f'attachment; filename="{job}-rollouts.parquet"'


@pytest.mark.parametrize(
    ("path", "param"),
    [
        ("rollouts/export?format=csv", "format"),
        ("rollouts/export?min_reward=1&max_reward=0", "min_reward"),
        ("metrics/export?names=tool/nobody/calls", "names"),
        ("metrics/export?names=nothing", "names"),
    ],
)
async def test_a_wrong_parameter_is_refused_before_the_file_begins(
    api: Api, job: str, path: str, param: str
) -> None:
    reply = await api.call("GET", f"{JOBS}/{job}/{path}")
    assert reply.status_code == 400, reply.text
    assert reply.json()["error"]["param"] == param


@pytest.mark.parametrize("path", ["rollouts/export", "metrics/export"])
async def test_another_project_finds_no_job(api: Api, job: str, path: str) -> None:
    reply = await api.call("GET", f"{JOBS}/{job}/{path}", key=api.other_key)
    assert reply.status_code == 404
    assert reply.headers["content-type"] == "application/json"


async def test_an_organization_reads_for_one_export_at_a_time(
    api: Api, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many exports of one tenant would otherwise hold every connection to the database."""
    at_once: list[int] = []
    reading = 0
    read = RolloutStore.batch

    async def counted(store: RolloutStore, *args: Any, **options: Any) -> list[RolloutRow]:
        nonlocal reading
        reading += 1
        at_once.append(reading)
        try:
            await asyncio.sleep(0.01)
            return await read(store, *args, **options)
        finally:
            reading -= 1

    monkeypatch.setattr(RolloutStore, "batch", counted)
    found = await asyncio.gather(*(_lines(api, f"{job}/rollouts/export") for _ in range(8)))
    assert [len(rows) for rows in found] == [240] * 8
    assert len(at_once) == 8 * 4
    assert max(at_once) == 1


class _Point(BaseModel):
    step: int


async def test_a_turn_lasts_as_long_as_its_thread_when_the_client_hangs_up() -> None:
    told = list[str]()
    encoding, go_on, hung_up = threading.Event(), threading.Event(), asyncio.Event()

    def to_wire(step: int) -> _Point:
        if step:
            encoding.set()
            go_on.wait()
            told.append("encoded")
        return _Point(step=step)

    @asynccontextmanager
    async def turn() -> AsyncIterator[None]:
        told.append("taken")
        try:
            yield
        finally:
            told.append("freed")

    async def batches() -> AsyncGenerator[list[int], None]:
        yield [0]
        yield [1]
        await asyncio.Event().wait()

    async def receive() -> Message:
        await hung_up.wait()
        return {"type": "http.disconnect"}

    async def send(_: Message) -> None:
        return None

    table = Table(to_wire, {"step": "integer"})
    reply = await table_reply(batches(), table, "jsonl", turn=turn, filename="points")
    sending = asyncio.create_task(reply({"type": "http", "asgi": {}}, receive, send))
    await asyncio.to_thread(encoding.wait)
    hung_up.set()
    for _ in range(20):  # the reply hears of it, and could free the turn
        await asyncio.sleep(0)
    go_on.set()
    await sending
    assert told[:5] == ["taken", "freed", "taken", "encoded", "freed"]
