"""A credential that tests look for in replies and in every row of the database."""

from typing import Any

import psycopg

from tests.support.stack import Database

CANARY = "canary-5d1e"
HEADERS = {"Authorization": f"Bearer {CANARY}"}


def stored(database: Database) -> str:
    """Returns every row of every table, as text."""
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        tables = connection.execute(
            "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
        rows = [
            connection.execute(f"SELECT t::text FROM {table} t".encode()).fetchall()
            for (table,) in tables
        ]
    return repr(rows)


def format_with(secret: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"token": {"type": "string", "const": secret}}}
    return {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
