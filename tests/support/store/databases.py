"""Databases of tests: copies of the migrated template, which are emptied for the next test.

Postgres writes all files of a new copy, and the first sessions build its caches of the catalogue,
which costs several times what the deletion of a test's rows does.
"""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import redis

from app.local.provision import DATABASE
from app.settings import OWNER_ROLE
from tests.support.patience import wait_for

_MAX_DELETED = 1000
"""A database of which more rows were deleted is dropped, because queries still read their pages."""
_SESSIONS = "SELECT pid FROM pg_stat_activity WHERE datname = %s"
_TABLES_WITH_PAGES = """
    SELECT relname FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'alembic_version'
    AND pg_relation_size(oid) > 0
"""
_RESTART_SEQUENCES = """
    SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false)
    FROM pg_sequences WHERE last_value IS NOT NULL
"""
_SCHEMA = " UNION ALL ".join(
    f"SELECT count(*), sum(xmin::text::bigint) FROM {catalogue}"  # each change has a new xmin
    for catalogue in ("pg_class", "pg_proc", "pg_policy", "pg_trigger", "pg_constraint")
)


@dataclass(slots=True)
class DatabaseCopy:
    """A copy of the template. `redis` numbers the Redis database that belongs to it."""

    name: str
    redis: int
    deleted: int = 0


class Databases:
    """Hands out databases that have the template's schema and no rows."""

    def __init__(self, server: psycopg.Connection, url: Callable[[str], str]) -> None:
        """`server` is a superuser's session; `url` makes the URL of such a one on a database."""
        self._server = server
        self._url = url
        self._numbers = itertools.count()
        self._free: list[DatabaseCopy] = []
        self._free_redis = list(range(16))
        self._schema: list[tuple[Any, ...]] | None = None

    def take(self) -> DatabaseCopy:
        return self._free.pop() if self._free else self._create()

    def give_back(self, copy: DatabaseCopy) -> None:
        """Ends the sessions of the test, and keeps the database if it is as new to the next one. It
        gets another name, so that a process which the test has left behind cannot connect to it.
        """
        self._end_sessions(copy.name)
        old, copy.name = copy.name, self._new_name()
        self._server.execute(f'ALTER DATABASE "{old}" RENAME TO "{copy.name}"'.encode())
        if self._emptied(copy):
            self._free.append(copy)
            return
        self._server.execute(f'DROP DATABASE "{copy.name}" WITH (FORCE)'.encode())
        self._free_redis.append(copy.redis)

    def _create(self) -> DatabaseCopy:
        name = self._new_name()
        self._server.execute(
            f'CREATE DATABASE "{name}" TEMPLATE "{DATABASE}" OWNER {OWNER_ROLE}'.encode()
        )
        if self._schema is None:
            with psycopg.connect(self._url(name)) as connection:
                self._schema = connection.execute(_SCHEMA.encode()).fetchall()
        return DatabaseCopy(name, self._free_redis.pop())

    def _new_name(self) -> str:
        return f"test_{next(self._numbers)}"

    def _end_sessions(self, name: str) -> None:
        def ended() -> bool:
            return self._server.execute(_SESSIONS, [name]).fetchone() is None

        if not ended():
            ending = f"SELECT pg_terminate_backend(pid) FROM ({_SESSIONS}) AS sessions"
            self._server.execute(ending.encode(), [name])
            wait_for(ended, interval_s=0.002, what=f"the end of the sessions on {name}")

    def _emptied(self, copy: DatabaseCopy) -> bool:
        """Deletes all rows. Returns false if they were many, or if the schema was changed."""
        with psycopg.connect(self._url(copy.name)) as connection:
            if connection.execute(_SCHEMA.encode()).fetchall() != self._schema:
                return False
            connection.execute("SET LOCAL session_replication_role = replica")  # in any order
            copy.deleted += sum(
                connection.execute(f'DELETE FROM "{table}"'.encode()).rowcount
                for (table,) in connection.execute(_TABLES_WITH_PAGES).fetchall()
            )
            connection.execute(_RESTART_SEQUENCES)
        return copy.deleted <= _MAX_DELETED


class Brokers:
    """The Redis databases of tests, with one client each: a client reads the metadata of its
    package when it connects.
    """

    def __init__(self, url: str) -> None:
        """`url` is the server's, without a number."""
        self._url = url
        self._clients: dict[int, redis.Redis] = {}

    def emptied(self, number: int) -> str:
        """Returns the URL of a Redis database, which is then empty."""
        url = f"{self._url}/{number}"
        if number not in self._clients:
            self._clients[number] = redis.Redis.from_url(url)
        self._clients[number].flushdb()
        return url

    def close(self) -> None:
        for client in self._clients.values():
            client.close()


@contextmanager
def databases(url: Callable[[str], str]) -> Iterator[Databases]:
    with psycopg.connect(url("postgres"), autocommit=True) as server:
        yield Databases(server, url)


@contextmanager
def brokers(url: str) -> Iterator[Brokers]:
    found = Brokers(url)
    try:
        yield found
    finally:
        found.close()
