"""The Postgres of a data directory: the running one, or one that is started for a command."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.embedded import layout
from app.embedded.children.processes import Child
from app.embedded.children.readiness import stop_in_order, wait_ready
from app.embedded.servers.postgres import PostgresServer
from app.embedded.state import (
    DataDir,
    InstallationState,
    load_state,
    owner_pid,
    ownership,
    save_state,
)
from app.settings.host import HostSettings


@contextmanager
def serving(data_dir: DataDir, host: HostSettings) -> Iterator[PostgresServer]:
    """Yields the server of an installation, whether `agent-rft up` runs or not."""
    state = load_state(data_dir)
    if owner_pid(data_dir) is not None:
        yield layout.postgres_server(state, data_dir, host)
        return
    with ownership(data_dir):
        state = state.with_free_ports()
        save_state(data_dir, state)
        with running_server(data_dir, state, host) as server:
            yield server


@contextmanager
def running_server(
    data_dir: DataDir, state: InstallationState, host: HostSettings
) -> Iterator[PostgresServer]:
    """Runs the server until the end of the block; creates the cluster if there is none."""
    server = layout.postgres_server(state, data_dir, host)
    child = Child(server.child(data_dir.logs / "postgres.log"))
    try:
        child.tick()
        wait_ready([child])
        yield server
    finally:
        stop_in_order([[child]])
