"""Throw-away Postgres and Valkey for tests, and the whole product as one command.

`running_services()` is the light level: real servers, roles, migrations, a database for each test
copied from a template (about 30 ms). `Stack` is the full level: `agent-rft up --detach`.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import psycopg

from app.embedded.binaries import find_postgres, find_valkey, package_dir
from app.embedded.identity import unprivileged
from app.embedded.migrate import upgrade
from app.embedded.ports import free_port
from app.embedded.postgres import SUPERUSER, PostgresServer
from app.embedded.processes import Child
from app.embedded.provision import DATABASE, database_url, provision
from app.embedded.readiness import stop_in_order, wait_ready
from app.embedded.state import State
from app.embedded.valkey import ValkeyServer
from app.settings import APP_ROLE, OWNER_ROLE, WORKER_ROLE, EgressSettings, HostSettings, Settings

_REDIS_DATABASES = 16


@dataclass(frozen=True, slots=True)
class Database:
    """One database with the current schema and no rows, and settings that lead to it."""

    name: str
    settings: Settings
    superuser_url: str = field(repr=False)

    @property
    def app_url(self) -> str:
        return self.settings.database_url

    @property
    def worker_url(self) -> str:
        return self.settings.worker_database_url

    @property
    def owner_url(self) -> str:
        assert self.settings.owner_database_url is not None
        return self.settings.owner_database_url


@dataclass(frozen=True, slots=True)
class Services:
    """Running servers. `DATABASE` is the migrated template; nothing may stay connected to it."""

    state: State
    postgres: PostgresServer
    valkey: ValkeyServer
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @contextmanager
    def database(self, directory: Path) -> Iterator[Database]:
        """A fresh copy of the template and an empty Redis database, for one test."""
        import redis  # noqa: PLC0415 - the servers themselves need no client

        number = next(self._numbers)
        name = f"test_{number}"
        with self._superuser() as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{DATABASE}" OWNER {OWNER_ROLE}')
        redis_url = self.valkey.url.removesuffix("/0") + f"/{number % _REDIS_DATABASES}"
        with redis.Redis.from_url(redis_url) as broker:
            broker.flushdb()
        try:
            yield Database(name, self.settings(name, redis_url, directory), self._url(name))
        finally:
            with self._superuser() as connection:
                connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')

    def settings(self, database: str, redis_url: str, directory: Path) -> Settings:
        def url(role: str, password: str) -> str:
            return database_url(self.postgres.port, role=role, password=password, database=database)

        return Settings(
            database_url=url(APP_ROLE, self.state.app_password),
            worker_database_url=url(WORKER_ROLE, self.state.worker_password),
            owner_database_url=url(OWNER_ROLE, self.state.owner_password),
            redis_url=redis_url,
            data_dir=directory,
            secret_key=self.state.secret_key,
            egress=EgressSettings(allow_plain_http=True, call_timeout_s=5),
        )

    def _url(self, database: str) -> str:
        return database_url(
            self.postgres.port, role=SUPERUSER, password=self.postgres.password, database=database
        )

    def _superuser(self) -> psycopg.Connection:
        url = self._url("postgres").replace("+psycopg", "")
        return psycopg.connect(url, autocommit=True)


@contextmanager
def running_services(directory: Path) -> Iterator[Services]:
    """Start both servers below the directory, make roles, template and schema; stop at the end."""
    host = HostSettings()
    state = State.new()
    postgres = PostgresServer(
        binaries=find_postgres(host.pg_bin),
        cluster=directory / "postgres",
        port=state.postgres_port,
        password=state.superuser_password,
        run_as=unprivileged(),
        durable=False,  # a lost test cluster is made again
    )
    valkey = ValkeyServer(
        find_valkey(host.valkey_bin), directory / "valkey", state.valkey_port, state.valkey_password
    )
    children = [
        Child(postgres.child(directory / "postgres.log")),
        Child(valkey.child(directory / "valkey.log")),
    ]
    try:
        wait_ready(children)
        services = Services(state, postgres, valkey)
        provision(postgres, state)
        scripts = package_dir("migrations")
        if scripts is not None and (scripts / "alembic.ini").is_file():
            upgrade(
                database_url(state.postgres_port, role=OWNER_ROLE, password=state.owner_password)
            )
        yield services
    finally:
        stop_in_order([children])


class CommandFailed(Exception):
    """`agent-rft` ended with a status other than 0. `said` is its standard error."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"status {status}: {said}")
        self.status = status
        self.said = said


def agent_rft(*arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """Run the command line to its end and return what it printed. Raises CommandFailed."""
    done = subprocess.run(
        [sys.executable, "-m", "app.cli.main", *arguments],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CommandFailed(done.returncode, done.stderr)
    return done.stdout


@dataclass(slots=True)
class Stack:
    """The whole product below one directory, started and stopped as a user would.

    `with Stack(tmp_path, allow_endpoints=("127.0.0.1:9000",)) as stack:` serves on
    `stack.base_url` with `stack.api_key`.
    """

    directory: Path
    allow_endpoints: tuple[str, ...] = ()
    lease_s: float | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    announced: dict[str, Any] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """`agent-rft up --detach`; returns once everything is ready."""
        arguments = ["up", "--data-dir", str(self.directory), "--port", str(self.port), "--detach"]
        for endpoint in self.allow_endpoints:
            arguments += ["--allow-endpoint", endpoint]
        if self.lease_s is not None:
            arguments += ["--lease-s", str(self.lease_s)]
        self.announced = json.loads(agent_rft(*arguments, environment=self.environment))

    def stop(self) -> None:
        agent_rft("down", "--data-dir", str(self.directory))

    @property
    def base_url(self) -> str:
        return str(self.announced["base_url"])

    @property
    def api_key(self) -> str:
        return str(self.announced["api_key"])

    def pids(self) -> dict[str, int]:
        """Process id of each child: postgres, valkey, engine, api, runs, control."""
        return dict(json.loads((self.directory / "services.json").read_text())["children"])

    def kill(self, child: str) -> int:
        """SIGKILL one child. Returns the pid it had."""
        pid = self.pids()[child]
        os.kill(pid, signal.SIGKILL)
        return pid

    def wait_restarted(self, child: str, old_pid: int, *, limit_s: float = 60.0) -> float:
        """Seconds until the supervisor has started the child again (not: until it is ready)."""
        started = time.monotonic()
        while self.pids().get(child) in {None, old_pid}:
            if time.monotonic() - started > limit_s:
                raise TimeoutError(f"{child} was not restarted within {limit_s} s")
            time.sleep(0.05)
        return time.monotonic() - started
