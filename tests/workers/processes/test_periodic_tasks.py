"""The clock's tasks share one connection, and open another once it is lost."""

from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import text

from tests.support import stack
from workers.processes.clients import PeriodicTaskClients, PeriodicTasks


@pytest.fixture
def ticks(database: stack.Database) -> Iterator[PeriodicTasks]:
    started = PeriodicTasks(lambda: database.settings)
    yield started
    started.close()


async def server_process(clients: PeriodicTaskClients) -> int:
    """Returns the id of the server's process behind the connection."""
    async with clients.database.sessions() as session:
        return int(await session.scalar(text("SELECT pg_backend_pid()")) or 0)


def test_calls_share_one_connection(ticks: PeriodicTasks) -> None:
    assert len({ticks.run(server_process) for _ in range(5)}) == 1


def test_a_connection_that_the_server_closed_is_replaced(
    ticks: PeriodicTasks, database: stack.Database
) -> None:
    first = ticks.run(server_process)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 5000)", (first,))
    assert ticks.run(server_process) != first


def test_an_error_ends_one_call_only(ticks: PeriodicTasks) -> None:
    first = ticks.run(server_process)

    async def fails(_: PeriodicTaskClients) -> None:
        raise ValueError("of the task")

    with pytest.raises(ValueError, match="of the task"):
        ticks.run(fails)
    assert ticks.run(server_process) != first
