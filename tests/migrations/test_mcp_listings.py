"""Listings of MCP servers leave the method for a column of their own, and come back."""

from typing import Any

import psycopg
from alembic import command
from alembic.config import Config
from psycopg.types.json import Jsonb

from app.local.servers import package_dir
from tests.support.stack import Database

TOOLS = [
    {"name": f"tool_{number}", "description": "d", "input_schema_json": "{}"}
    for number in range(12)
]
LISTED = {"server_label": "b", "listing": {"protocol_version": "2026-07-28", "tools": TOOLS}}
EMPTY = {"server_label": "c", "listing": {"protocol_version": "2025-06-18", "tools": []}}
PLAIN = {"server_label": "a"}
METHODS = {
    "ftjob-m": {"type": "reinforcement", "reinforcement": {"mcp_servers": [PLAIN, LISTED, EMPTY]}},
    "ftjob-n": {"type": "reinforcement", "reinforcement": {"mcp_servers": [PLAIN]}},
    "ftjob-o": {"type": "supervised", "supervised": {}},
    "ftjob-p": {},
}


def test_listings_move_out_of_the_method_and_back(database: Database) -> None:
    scripts = package_dir("migrations")
    assert scripts is not None
    config = Config(str(scripts / "alembic.ini"))
    config.attributes["url"] = database.owner_url
    command.downgrade(config, "0028")
    url = database.superuser_url.replace("+psycopg", "")
    with psycopg.connect(url) as connection:
        _insert(connection)
    command.upgrade(config, "head")
    with psycopg.connect(url) as connection:
        after = _rows(connection, "method, mcp_listings")
        kept = connection.execute(
            "SELECT relforcerowsecurity FROM pg_class WHERE relname = 'fine_tuning_jobs'"
        ).fetchone()
    assert kept == (True,)
    names = [tool["name"] for tool in TOOLS[:10]]
    method, listings = after.pop("ftjob-m")
    assert method["reinforcement"]["mcp_servers"] == [
        PLAIN,
        {"server_label": "b", "listing_summary": {
            "protocol_version": "2026-07-28", "tool_count": 12, "tool_names": names}},
        {"server_label": "c", "listing_summary": {
            "protocol_version": "2025-06-18", "tool_count": 0, "tool_names": []}},
    ]  # fmt: skip
    assert listings == {"1": LISTED["listing"], "2": EMPTY["listing"]}
    assert after == {job: (method, None) for job, method in METHODS.items() if job != "ftjob-m"}

    command.downgrade(config, "0028")
    with psycopg.connect(url) as connection:
        assert {job: row[0] for job, row in _rows(connection, "method").items()} == METHODS
    command.upgrade(config, "head")


def _rows(connection: psycopg.Connection[Any], columns: str) -> dict[str, tuple[Any, ...]]:
    rows = connection.execute(f"SELECT id, {columns} FROM fine_tuning_jobs").fetchall()
    return {row[0]: row[1:] for row in rows}


def _insert(connection: psycopg.Connection[Any]) -> None:
    connection.execute("INSERT INTO organizations (id, slug, title) VALUES ('org-m', 'm', 'm')")
    connection.execute(
        "INSERT INTO projects (id, organization_id, name) VALUES ('proj_m', 'org-m', 'm')"
    )
    for job_id, method in METHODS.items():
        connection.execute(
            "INSERT INTO fine_tuning_jobs (id, organization_id, project_id, key_id, model, status,"
            " training_file, seed, method, integrations, result_files)"
            " VALUES (%s, 'org-m', 'proj_m', 'k', 'tiny', 'succeeded', 'f', 0, %s, '[]', '[]')",
            [job_id, Jsonb(method)],
        )
