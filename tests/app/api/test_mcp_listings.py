"""Lists of jobs show what MCP servers listed in short, and read none of it in full."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

from app.database import Database as Store
from app.tools.mcp_servers import McpListing, McpTool
from tests.support.api.application import ENDPOINT, Api
from tests.support.api.job_calls import JOBS, changed
from tests.support.stack import Database
from tests.support.store.leased_kinds import connect

CHARACTERS = 500_000
"""Size of the largest listing."""
TOOLS = 25
TWO = [{"server_label": label, "server_url": f"{ENDPOINT}/{label}"} for label in ("a", "b")]
CLAIM = """
    UPDATE fine_tuning_jobs
    SET fence = 1, lease_until = now() + interval '1 hour', lease_owner = 'w'
    WHERE id = %s
"""
COPIES = """
    INSERT INTO fine_tuning_jobs
    SELECT (jsonb_populate_record(job, jsonb_build_object('id', job.id || '-' || number))).*
    FROM fine_tuning_jobs AS job, generate_series(1, 99) AS number
"""


def _listing() -> McpListing:
    schema = json.dumps({"type": "object", "description": "s" * (CHARACTERS // TOOLS)})
    tools = tuple(
        McpTool(name=f"tool_{number}", description="d", input_schema_json=schema)
        for number in range(TOOLS)
    )
    return McpListing(protocol_version="2026-07-28", tools=tools)


@contextmanager
def _statements() -> Iterator[list[str]]:
    seen = list[str]()

    def note(*call: Any) -> None:
        seen.append(call[2])

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


async def test_a_page_of_a_hundred_jobs_has_summaries_and_a_job_its_whole_listing(
    api: Api, body: dict[str, Any], database: Database
) -> None:
    made = (await api.call("POST", JOBS, json=changed(body, ("mcp_servers",), TWO))).json()
    with connect(database) as connection:
        connection.execute(CLAIM, [made["id"]])
        row = connection.execute("SELECT project_id FROM fine_tuning_jobs").fetchone()
    assert row is not None
    listing = _listing()
    worker = Store(database.worker_url, pool_size=1)
    async with worker.run(row[0], made["id"], 1) as unit:
        await unit.jobs.record_listings({1: listing})
        await unit.jobs.record_listings({0: McpListing(protocol_version="1", tools=())})
    await worker.dispose()
    with connect(database) as connection:
        connection.execute(COPIES)

    with _statements() as seen:
        reply = await api.call("GET", JOBS, params={"limit": "100"})
    jobs = reply.json()["data"]
    assert len(jobs) == 100
    short = {
        "protocol_version": "2026-07-28",
        "tool_count": TOOLS,
        "tool_names": [f"tool_{number}" for number in range(10)],
    }
    for job in jobs:
        first, second = job["method"]["reinforcement"]["mcp_servers"]
        assert (second["listing_summary"], "listing" in second) == (short, False)
        assert first["listing_summary"]["tool_count"] == 0
    assert len(reply.content) < 100 * 8_000
    read = [statement for statement in seen if "fine_tuning_jobs" in statement]
    assert read
    assert not any("mcp_listings" in statement for statement in read)

    whole = (await api.call("GET", f"{JOBS}/{made['id']}")).json()
    first, second = whole["method"]["reinforcement"]["mcp_servers"]
    assert second["listing"] == listing.model_dump(mode="json")
    assert second["listing_summary"] == short
    assert first["listing"] == {"protocol_version": "1", "tools": []}
    cancelled = (await api.call("POST", f"{JOBS}/{made['id']}/cancel")).json()
    assert cancelled["method"] == whole["method"]

    assert (await api.call("DELETE", f"{JOBS}/{made['id']}")).status_code == 200
    with connect(database) as connection:
        left = connection.execute(
            "SELECT mcp_listings FROM fine_tuning_jobs WHERE id = %s", [made["id"]]
        ).fetchone()
    assert left == (None,)


async def test_a_call_that_sends_a_summary_is_refused(api: Api, body: dict[str, Any]) -> None:
    sent = [{**TWO[0], "listing_summary": {"protocol_version": "1", "tool_count": 0,
                                           "tool_names": []}}]  # fmt: skip
    reply = await api.call("POST", JOBS, json=changed(body, ("mcp_servers",), sent))
    error = reply.json()["error"]
    assert reply.status_code == 400
    assert error["param"] == "method.reinforcement.mcp_servers[0].listing_summary"
