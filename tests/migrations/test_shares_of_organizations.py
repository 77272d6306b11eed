"""Queues of an earlier version get organizations, and a downgrade takes them away again."""

import psycopg
from alembic import command
from alembic.config import Config

from app.local.servers import package_dir
from tests.support.stack import Database

FUNCTIONS = """
    SELECT proname, pg_get_functiondef(oid), proacl::text[] FROM pg_proc
    WHERE proname LIKE 'queue%' AND pronamespace = 'public'::regnamespace ORDER BY proname
"""


def test_virtual_times_continue_and_a_downgrade_restores_the_functions(database: Database) -> None:
    scripts = package_dir("migrations")
    assert scripts is not None
    config = Config(str(scripts / "alembic.ini"))
    config.attributes["url"] = database.owner_url
    command.downgrade(config, "0016")
    command.upgrade(config, "0027")
    before = _read(database, FUNCTIONS)
    assert [name for name, *_ in before] == [
        "queue_of_eval_runs",
        "queue_of_fine_tuning_jobs",
        "queue_of_model_exports",
        "queue_places",
    ]
    _insert(database)
    command.upgrade(config, "head")
    assert _read(
        database,
        "SELECT queue, organization_id, virtual_time, project_virtual_time"
        " FROM organization_virtual_times",
    ) == [("fine_tuning_jobs", "org-m", 0.0, 7.5)]
    assert _read(database, FUNCTIONS) != before
    weights = "SELECT id, share_weight FROM projects ORDER BY id"
    assert _read(database, weights) == [("a", 1.0), ("b", 1e-6)]
    unforced = "SELECT relname FROM pg_class WHERE relrowsecurity AND NOT relforcerowsecurity"
    assert _read(database, unforced) == []
    command.downgrade(config, "0027")
    assert _read(database, FUNCTIONS) == before
    command.upgrade(config, "head")
    command.check(config)


def _read(database: Database, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        return connection.execute(query.encode()).fetchall()


def _insert(database: Database) -> None:
    """Jobs of two projects of one organization as an earlier version claimed them."""
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute("INSERT INTO organizations (id, slug, title) VALUES ('org-m', 'm', 'm')")
        for name, turn, weight in (("a", 7.5, "NaN"), ("b", None, 1e-320)):
            connection.execute(
                "INSERT INTO projects (id, organization_id, name, share_weight)"
                " VALUES (%s, 'org-m', %s, %s)",
                (name, name, weight),
            )
            connection.execute(
                "INSERT INTO fine_tuning_jobs (id, organization_id, project_id, key_id, model,"
                " status, training_file, seed, method, integrations, result_files, turn)"
                " VALUES (%s, 'org-m', %s, 'k', 'm', 'queued', 'f', 0, '{}', '[]', '[]', %s)",
                (f"ftjob-{name}", name, turn),
            )
