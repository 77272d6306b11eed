"""The fixtures themselves: isolation between tests and roles without rights."""

import psycopg
import pytest
import redis

from app.settings import APP_ROLE, OWNER_ROLE, WORKER_ROLE
from tests.support.stack import Database


def _connect(url: str) -> psycopg.Connection:
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_gets_an_empty_database(database: Database, turn: int) -> None:
    with _connect(database.owner_url) as owner:
        owner.execute("CREATE TABLE left_behind (turn int)")
        owner.execute("INSERT INTO left_behind VALUES (%s)", [turn])
        assert owner.execute("SELECT turn FROM left_behind").fetchall() == [(turn,)]
    with redis.Redis.from_url(database.settings.redis_url) as broker:
        assert broker.incr("counter") == 1


def test_no_role_of_the_service_has_special_rights(database: Database) -> None:
    with _connect(database.app_url) as app:
        rows = app.execute(
            "SELECT rolname, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole FROM pg_roles"
            " WHERE rolname = ANY(%s)",
            [[OWNER_ROLE, APP_ROLE, WORKER_ROLE]],
        ).fetchall()
    assert sorted(rows) == [
        (name, False, False, False, False) for name in sorted([OWNER_ROLE, APP_ROLE, WORKER_ROLE])
    ]
