"""The embedded Postgres: kills, stale pid files, rights as root, other versions."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from app.local import layout
from app.local import state as identity
from app.local.probes import stop_in_order, wait_ready
from app.local.processes import Child, fingerprint
from app.local.servers import (
    SUPERUSER,
    PostgresBinaries,
    PostgresServer,
    find_postgres,
    runnable_by,
)
from app.local.state import BinaryMissing, DataDir, DataDirUnusable, RunAs, free_port, load_state
from app.settings import HostSettings

_SYSTEM_POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
_AS_ROOT = os.geteuid() == 0
Run = Callable[..., tuple[PostgresServer, Child]]


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory that other users may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.fixture
def run(directory: Path) -> Iterator[Run]:
    children: list[Child] = []

    def start(
        *, run_as: RunAs | None = None, binaries: PostgresBinaries | None = None
    ) -> tuple[PostgresServer, Child]:
        found = binaries or find_postgres()
        if run_as is not None:  # a tree made under a strict umask is closed to others
            found = runnable_by(run_as, found, directory / "reachable")
        server = PostgresServer(
            binaries=found,
            cluster=directory / "postgres",
            port=free_port(),
            password="superuser-password",
            run_as=run_as or identity.unprivileged_user(),
            durable=False,  # a killed process loses nothing that the kernel has; a machine would
        )
        child = Child(server.child(directory / "postgres.log"))
        children.append(child)
        wait_ready([child])
        return server, child

    yield start
    stop_in_order([children])


def _connect(server: PostgresServer, password: str | None = None) -> psycopg.Connection:
    return psycopg.connect(
        host="127.0.0.1",
        port=server.port,
        user=SUPERUSER,
        password=password or server.password,
        dbname="postgres",
        autocommit=True,
    )


def _as_service_user(directory: Path) -> RunAs:
    directory.chmod(0o755)
    return identity.service_user()


def test_committed_rows_survive_a_killed_postmaster(run: Run) -> None:
    server, child = run()
    first = child.pid
    assert first is not None
    with _connect(server) as connection:
        connection.execute("CREATE TABLE kept (n int PRIMARY KEY)")
        for number in range(100):
            connection.execute("INSERT INTO kept VALUES (%s)", [number])
        os.kill(first, signal.SIGKILL)
        while child.pid == first:
            child.tick()
        wait_ready([child])
    with _connect(server) as connection:
        assert connection.execute("SELECT count(*), max(n) FROM kept").fetchone() == (100, 99)


def test_a_wrong_password_is_refused(run: Run) -> None:
    server, _ = run()
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        _connect(server, password="guess")


def test_it_listens_on_loopback_only(run: Run) -> None:
    server, _ = run()
    with _connect(server) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("127.0.0.1",)
        assert connection.execute("SHOW unix_socket_directories").fetchone() == ("",)


def test_a_missing_locale_in_the_environment_does_not_matter(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "xx_YY.missing")
    server, _ = run()
    with _connect(server) as connection:
        assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)


def test_a_pid_file_naming_somebody_elses_process_is_removed(run: Run) -> None:
    server, child = run()
    stop_in_order([[child]])
    with subprocess.Popen(["/bin/sleep", "300"]) as bystander:
        pid_file = server.cluster / "postmaster.pid"
        pid_file.write_text(f"{bystander.pid}\n{server.cluster}\n")
        _, again = run()
        assert again.state == "ready"
        assert bystander.poll() is None
        bystander.kill()


def test_a_server_without_a_supervisor_is_stopped_first(run: Run) -> None:
    server, lost = run()
    pid = lost.pid
    assert pid is not None
    mark = fingerprint(pid)
    _, child = run()
    assert child.pid != pid
    lost.tick()  # reaps it, as init would
    assert fingerprint(pid) != mark
    with pytest.raises(psycopg.OperationalError, match="refused"):
        _connect(server)


def test_half_made_clusters_are_made_again(run: Run, directory: Path) -> None:
    unfinished = directory / "postgres.new"
    unfinished.mkdir()
    (unfinished / "PG_VERSION").write_text("18\n")
    server, child = run()
    assert child.state == "ready"
    assert not unfinished.exists()
    assert (server.cluster / "global" / "pg_control").exists() or not _AS_ROOT


def test_a_cluster_of_another_version_is_left_alone(run: Run) -> None:
    server, child = run()
    stop_in_order([[child]])
    (server.cluster / "PG_VERSION").write_text("14\n")
    with pytest.raises(DataDirUnusable, match="created by Postgres 14"):
        server.prepare()


@pytest.mark.skipif(not _AS_ROOT, reason="an ordinary user needs no other identity")
def test_root_keeps_its_directories_closed(run: Run, directory: Path) -> None:
    if not identity.namespaces_work():
        pytest.skip("this machine refuses user namespaces")
    directory.chmod(0o700)
    server, _ = run()
    assert directory.stat().st_mode & 0o777 == 0o700
    assert (server.cluster.stat().st_uid, server.cluster.stat().st_mode & 0o777) == (0, 0o700)


@pytest.mark.skipif(not _AS_ROOT, reason="only root can become another user")
def test_root_without_namespaces_drops_to_a_service_user(run: Run, directory: Path) -> None:
    run_as = _as_service_user(directory)
    server, child = run(run_as=run_as)
    assert child.pid is not None
    assert Path(f"/proc/{child.pid}").stat().st_uid == run_as.uid
    with _connect(server) as connection:
        connection.execute("CREATE TABLE kept (n int)")


@pytest.mark.skipif(not _AS_ROOT, reason="only root can become another user")
def test_a_service_user_without_access_is_reported_with_the_cure(run: Run, directory: Path) -> None:
    run_as = _as_service_user(directory)
    directory.chmod(0o700)
    with pytest.raises(DataDirUnusable, match="choose another --data-dir"):
        run(run_as=run_as)


@pytest.mark.skipif(not _AS_ROOT, reason="only root can become another user")
def test_binaries_below_a_closed_home_are_copied_with_their_libraries(
    run: Run, directory: Path, tmp_path: Path
) -> None:
    run_as = _as_service_user(directory)
    found = find_postgres()
    package = found.directory.parents[1]
    for source in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(source, tmp_path / source.name, symlinks=True)
    tmp_path.chmod(0o700)
    closed = find_postgres(tmp_path / package.name / found.directory.relative_to(package))
    before = os.umask(0o077)
    try:
        opened = runnable_by(run_as, closed, directory / "binaries")
    finally:
        os.umask(before)
    assert opened.directory.is_relative_to(directory)
    _, child = run(run_as=run_as, binaries=opened)
    assert child.state == "ready"
    assert runnable_by(run_as, opened, directory / "elsewhere") == opened


@pytest.mark.skipif(not _AS_ROOT, reason="only root can become another user")
def test_a_data_directory_is_opened_for_the_service_user_to_pass_through(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory.chmod(0o755)
    monkeypatch.setenv("PATH", str(directory))  # no `unshare` there
    data_dir = DataDir.at(directory / "data")
    server = layout.postgres_server(load_state(data_dir), data_dir, HostSettings())
    assert server.run_as == identity.service_user()
    child = Child(replace(server, durable=False).child(data_dir.logs / "postgres.log"))
    try:
        wait_ready([child])
    finally:
        stop_in_order([[child]])
    assert data_dir.root.stat().st_mode & 0o777 == 0o711
    assert data_dir.state_file.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not _SYSTEM_POSTGRES, reason="no system Postgres installed")
def test_a_system_postgres_does_too(run: Run) -> None:
    binaries = find_postgres(_SYSTEM_POSTGRES[0].parent)
    server, _ = run(binaries=binaries)
    with _connect(server) as connection:
        row = connection.execute("SHOW server_version_num").fetchone()
        assert row is not None
        assert int(row[0]) // 10_000 == binaries.major


def test_a_chosen_directory_without_binaries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BinaryMissing, match=str(tmp_path)):
        find_postgres(tmp_path)
