"""Databases of tests: copies of the migrated template, which are emptied for the next test.

Postgres writes all files of a new copy, and the first sessions build its caches of the catalogue,
which costs several times what the deletion of a test's rows does.
"""

import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import active_children
from typing import Any

import psycopg
import redis

from app.local.provision import DATABASE
from app.settings import OWNER_ROLE
from tests.support.patience import wait_for
from tests.support.store.kept_pools import close_pools, kept_sessions

_MAX_DELETED = 1000
"""Deleted rows after which the pages are vacuumed, because queries still read them."""
_SESSIONS = "SELECT pid FROM pg_stat_activity WHERE datname = %s AND pid <> ALL(%s)"
_TABLES = """
    SELECT relname FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'alembic_version'
"""
_RESTART_SEQUENCES = """
    SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false)
    FROM pg_sequences WHERE last_value IS NOT NULL
"""
_SCHEMA = " UNION ALL ".join(
    f"SELECT count(*), sum(xmin::text::bigint) FROM {catalogue}"  # each change has a new xmin
    for catalogue in ("pg_class", "pg_proc", "pg_policy", "pg_trigger", "pg_constraint")
)
_STARTS = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"})


class _Started:
    """Counts the processes that this one starts."""

    def __init__(self) -> None:
        self._count = 0
        sys.addaudithook(self._note)

    def _note(self, happened: str, _arguments: object) -> None:
        self._count += happened in _STARTS

    def now(self) -> tuple[int, frozenset[int | None]]:
        return self._count, frozenset(each.pid for each in active_children())


@dataclass(slots=True)
class DatabaseCopy:
    """A copy of the template. `redis` numbers the Redis database that belongs to it."""

    name: str
    redis: int
    connection: psycopg.Connection[Any] = field(repr=False)
    """A superuser's, for the whole life of the name."""
    deleted: int = 0
    started: object = None


class Databases:
    """Hands out databases that have the template's schema and no rows."""

    def __init__(self, server: psycopg.Connection, url: Callable[[str], str]) -> None:
        """`server` is a superuser's session; `url` makes the URL of such a one on a database."""
        self._server = server
        self._url = url
        self._numbers = itertools.count()
        self._free: list[DatabaseCopy] = []
        self._free_redis = list(range(16))
        self._schema: list[tuple[Any, ...]] = []
        self._deletion = b""
        self._started = _Started()

    def take(self) -> DatabaseCopy:
        copy = self._free.pop() if self._free else self._create()
        copy.started = self._started.now()
        return copy

    def give_back(self, copy: DatabaseCopy) -> None:
        """Keeps the database if it is as new to the next test. It gets another name after a test
        that started a process or left a session, which may come back.
        """
        if copy.started != self._started.now() or not self._is_left(copy):
            self._rename(copy)
        if self._emptied(copy):
            self._free.append(copy)
            return
        copy.connection.close()
        close_pools(copy.name)
        self._server.execute(f'DROP DATABASE "{copy.name}" WITH (FORCE)'.encode())
        self._free_redis.append(copy.redis)

    def close(self) -> None:
        for copy in self._free:
            copy.connection.close()

    def _create(self) -> DatabaseCopy:
        name = self._new_name()
        self._server.execute(
            f'CREATE DATABASE "{name}" TEMPLATE "{DATABASE}" OWNER {OWNER_ROLE}'.encode()
        )
        copy = DatabaseCopy(name, self._free_redis.pop(), self._connect(name))
        if not self._schema:
            self._schema = copy.connection.execute(_SCHEMA.encode()).fetchall()
            self._deletion = _deletion(copy.connection.execute(_TABLES).fetchall())
        return copy

    def _connect(self, name: str) -> psycopg.Connection[Any]:
        return psycopg.connect(self._url(name), autocommit=True)

    def _new_name(self) -> str:
        return f"test_{next(self._numbers)}"

    def _is_left(self, copy: DatabaseCopy) -> bool:
        """Returns whether the test closed its sessions. The server may notice a moment later."""
        own = [copy.connection.info.backend_pid, *kept_sessions(copy.name)]

        def left() -> bool:
            return self._server.execute(_SESSIONS, [copy.name, own]).fetchone() is None

        try:
            wait_for(left, interval_s=0.002, timeout_s=0.1, what="the end of a test's sessions")
        except AssertionError:
            return False
        return True

    def _rename(self, copy: DatabaseCopy) -> None:
        copy.connection.close()
        close_pools(copy.name)
        self._end_sessions(copy.name)
        old, copy.name = copy.name, self._new_name()
        self._server.execute(f'ALTER DATABASE "{old}" RENAME TO "{copy.name}"'.encode())
        copy.connection = self._connect(copy.name)

    def _end_sessions(self, name: str) -> None:
        def ended() -> bool:
            return self._server.execute(_SESSIONS, [name, []]).fetchone() is None

        if not ended():
            ending = f"SELECT pg_terminate_backend(pid) FROM ({_SESSIONS}) AS sessions"
            self._server.execute(ending.encode(), [name, []])
            wait_for(ended, interval_s=0.002, what=f"the end of the sessions on {name}")

    def _emptied(self, copy: DatabaseCopy) -> bool:
        """Deletes all rows. Returns false if the schema was changed."""
        if copy.connection.execute(_SCHEMA.encode(), prepare=True).fetchall() != self._schema:
            return False
        with copy.connection.transaction():
            copy.connection.execute("SET LOCAL session_replication_role = replica")  # in any order
            [deleted] = copy.connection.execute(self._deletion, prepare=True).fetchone() or [0]
            copy.connection.execute(_RESTART_SEQUENCES, prepare=True)
        copy.deleted += deleted
        if copy.deleted > _MAX_DELETED:
            copy.connection.execute("VACUUM")
            copy.deleted = 0
        return True


def _deletion(tables: list[tuple[str]]) -> bytes:
    """Returns one statement that deletes the rows of all tables and returns their number."""
    parts = ", ".join(
        f'gone_{number} AS (DELETE FROM "{table}" RETURNING 1)'
        for number, (table,) in enumerate(tables)
    )
    counts = " + ".join(f"(SELECT count(*) FROM gone_{number})" for number in range(len(tables)))
    return f"WITH {parts} SELECT {counts}".encode()


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
        found = Databases(server, url)
        try:
            yield found
        finally:
            found.close()


@contextmanager
def brokers(url: str) -> Iterator[Brokers]:
    found = Brokers(url)
    try:
        yield found
    finally:
        found.close()
