"""Throw-away Postgres and Valkey for tests: real servers, roles, migrations, and a database for
each test. The whole product is in `installation.py`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from app.accounts.usage import Quotas
from app.local.probes import stop_in_order, wait_ready
from app.local.processes import Child
from app.local.provision import database_url, provision, upgrade
from app.local.servers import (
    SUPERUSER,
    PostgresServer,
    ValkeyServer,
    find_postgres,
    find_valkey,
    package_dir,
)
from app.local.state import InstallationState, unprivileged_user
from app.settings import APP_ROLE, OWNER_ROLE, WORKER_ROLE, EgressSettings, HostSettings, Settings
from tests.support.store.databases import Brokers, Databases, brokers, databases

_SCRAM_ITERATIONS_SINCE = 16


@dataclass(frozen=True, slots=True)
class Database:
    """One database with the current schema and no rows, and settings that lead to it."""

    name: str
    settings: Settings
    superuser_url: str = field(repr=False)
    connection: psycopg.Connection[Any] = field(repr=False)
    """A superuser's, which commits each statement."""

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

    state: InstallationState
    postgres: PostgresServer
    valkey: ValkeyServer
    _databases: Databases
    _brokers: Brokers

    @contextmanager
    def database(self, directory: Path) -> Iterator[Database]:
        """A database without rows and an empty Redis database, for one test."""
        copy = self._databases.take()
        try:
            settings = self.settings(copy.name, self._brokers.emptied(copy.redis), directory)
            url = _superuser_url(self.postgres, copy.name)
            yield Database(copy.name, settings, url, copy.connection)
        finally:
            self._databases.give_back(copy)

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
            # Tests that watch a job's state decide who validates its files.
            validate_files_after_s=3600,
            # Tests take the steps of Coach sessions themselves.
            coach_poll_s=0,
            # Tests share a project and start no worker, so their jobs wait for ever.
            quotas=Quotas(queued_jobs=100_000),
        )


def _superuser_url(postgres: PostgresServer, database: str) -> str:
    return database_url(
        postgres.port, role=SUPERUSER, password=postgres.password, database=database
    )


def _superuser_dsn(postgres: PostgresServer, database: str) -> str:
    return _superuser_url(postgres, database).replace("+psycopg", "")


def _make_logins_cheap(postgres: PostgresServer, state: InstallationState) -> None:
    """Hashes the passwords once. The usual 4096 times are some 3 ms of a client's processor time
    for each of the ten thousand sessions of the suite.
    """
    if postgres.binaries.major < _SCRAM_ITERATIONS_SINCE:
        return
    passwords = {
        SUPERUSER: postgres.password,
        OWNER_ROLE: state.owner_password,
        APP_ROLE: state.app_password,
        WORKER_ROLE: state.worker_password,
    }
    changes = [f"ALTER ROLE {role} PASSWORD '{secret}'" for role, secret in passwords.items()]
    postgres.execute(";\n".join(["SET scram_iterations = 1", *changes]))


@contextmanager
def running_services(directory: Path) -> Iterator[Services]:
    """Start both servers below the directory, make roles, template and schema; stop at the end."""
    host = HostSettings()
    state = InstallationState.new()
    postgres = PostgresServer(
        binaries=find_postgres(host.pg_bin),
        cluster=directory / "postgres",
        port=state.postgres_port,
        password=state.superuser_password,
        run_as=unprivileged_user(),
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
        provision(postgres, state)
        _make_logins_cheap(postgres, state)
        scripts = package_dir("migrations")
        if scripts is not None and (scripts / "alembic.ini").is_file():
            upgrade(
                database_url(state.postgres_port, role=OWNER_ROLE, password=state.owner_password)
            )
        with (
            databases(partial(_superuser_dsn, postgres)) as copies,
            brokers(valkey.url.removesuffix("/0")) as emptied,
        ):
            yield Services(state, postgres, valkey, copies, emptied)
    finally:
        stop_in_order([children])
