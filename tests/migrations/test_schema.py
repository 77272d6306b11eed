import psycopg
from alembic import command
from alembic.config import Config

from app.embedded.binaries import package_dir
from tests.support.stack import Database

APP, WORKER = "agent_rft_app", "agent_rft_worker"


def _config(database: Database) -> Config:
    scripts = package_dir("migrations")
    assert scripts is not None
    config = Config(str(scripts / "alembic.ini"))
    config.attributes["url"] = database.owner_url
    return config


def _rows(database: Database, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        return connection.execute(query.encode()).fetchall()


def test_the_migrations_make_exactly_the_tables_of_the_schema(database: Database) -> None:
    command.check(_config(database))


def test_down_and_up_again_leads_to_the_same_schema(database: Database) -> None:
    config = _config(database)
    command.downgrade(config, "base")
    assert _rows(database, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == [
        ("alembic_version",)
    ]
    command.upgrade(config, "head")
    command.check(config)


def test_every_tenant_table_forces_row_level_security(database: Database) -> None:
    unguarded = _rows(
        database,
        """
        SELECT DISTINCT c.relname FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
          AND (a.attname IN ('project_id', 'organization_id') OR c.relname = 'organizations')
          AND NOT (c.relrowsecurity AND c.relforcerowsecurity
                   AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid))
        """,
    )
    assert unguarded == []
    guarded = _rows(database, "SELECT count(*) FROM pg_class WHERE relforcerowsecurity")
    assert guarded == [(12,)]


def test_the_service_roles_have_no_way_around_it(database: Database) -> None:
    strong = _rows(
        database,
        f"""
        SELECT rolname FROM pg_roles WHERE rolname IN ('{APP}', '{WORKER}', 'agent_rft_owner')
        AND (rolsuper OR rolbypassrls OR rolcreaterole)
        """,
    )
    owned = _rows(
        database, f"SELECT tablename FROM pg_tables WHERE tableowner IN ('{APP}', '{WORKER}')"
    )
    assert (strong, owned) == ([], [])
