import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from alembic import command
from alembic.config import Config

from app.local import provision
from app.local.servers import package_dir
from app.local.state import EmbeddedError
from app.rewrapping import SEALED
from app.tables import Base
from migrations.initial.access import role
from tests.house.tenants import OWNERS_FUNCTIONS
from tests.support.patience import PATIENCE_S, wait_for
from tests.support.stack import Database

APP, WORKER = "agent_rft_app", "agent_rft_worker"
WAITING = """
    SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database
    WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()
"""


def _config(database: Database) -> Config:
    scripts = package_dir("migrations")
    assert scripts is not None
    config = Config(str(scripts / "alembic.ini"))
    config.attributes["url"] = database.owner_url
    return config


def _rows(database: Database, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        return connection.execute(query.encode()).fetchall()


def _advisory_lock(config: Config) -> int:
    source = Path(str(config.get_main_option("script_location"))) / "env.py"
    found = re.search(r"^_ADVISORY_LOCK = ([\d_]+)$", source.read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


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


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """The scripts of a later version, which has one migration more."""
    scripts = package_dir("migrations")
    assert scripts is not None
    copy = tmp_path / "newer"
    shutil.copytree(scripts, copy)
    (copy / "versions" / "0003_next.py").write_text(
        "from alembic import op\n"
        "revision, down_revision, branch_labels, depends_on = '0003', '0002', None, None\n"
        "def upgrade(): op.execute('ALTER TABLE files ADD COLUMN shelf text')\n"
    )
    return copy


def test_a_later_version_migrates_and_an_earlier_one_refuses_what_it_left(
    database: Database, newer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as later:
        later.setattr(provision, "package_dir", lambda _: newer)
        provision.upgrade(database.owner_url)
    revision = "SELECT version_num, (SELECT count(shelf) FROM files) FROM alembic_version"
    assert _rows(database, revision) == [("0003", 0)]
    with pytest.raises(EmbeddedError, match=r"another version.*0003"):
        provision.upgrade(database.owner_url)
    assert _rows(database, revision) == [("0003", 0)]


def test_several_processes_may_migrate_at_once(database: Database) -> None:
    config = _config(database)
    command.downgrade(config, "base")
    environment = os.environ | {"AGENT_RFT_OWNER_DATABASE_URL": database.owner_url}
    migrate = [sys.executable, "-m", "app.local.provision"]
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as gate:
        gate.execute("SELECT pg_advisory_xact_lock(%s)", (_advisory_lock(config),))
        running = [subprocess.Popen(migrate, env=environment) for _ in range(3)]
        wait_for(lambda: _rows(database, WAITING) == [(3,)], what="the wait for one another")
    assert [process.wait(timeout=PATIENCE_S) for process in running] == [0, 0, 0]
    command.check(config)


def test_missing_roles_are_created_without_rights_or_requested(database: Database) -> None:
    make = role("agent_rft_absent").encode()
    with (
        psycopg.connect(database.owner_url.replace("+psycopg", "")) as owner,
        pytest.raises(psycopg.errors.RaiseException, match="role agent_rft_absent is missing"),
    ):
        owner.execute(make)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as strong:
        strong.execute(make)
        made = strong.execute(
            "SELECT rolcanlogin, rolsuper, rolbypassrls, rolcreaterole FROM pg_roles"
            " WHERE rolname = 'agent_rft_absent'"
        ).fetchone()
        strong.rollback()
    assert made == (False, False, False, False)


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
    assert guarded == [(len(Base.metadata.tables),)]


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
    known = _rows(database, f"SELECT count(*) FROM pg_roles WHERE rolname IN ('{APP}', '{WORKER}')")
    assert known == [(2,)]


def test_no_function_or_view_looks_past_the_policies(database: Database) -> None:
    """Both would run with the rights of their owner. Those that may are listed with their reasons,
    have a pinned search path, and may be called by no role but the API's. They return numbers, or
    the ids and tenants of sessions that are due. Their tests are
    `tests/app/store/jobs/test_queue_positions.py` and `tests/app/store/coach/test_claims.py`.
    """
    found = _rows(
        database,
        """
        SELECT proname, proconfig, proacl::text[] FROM pg_proc
        WHERE prosecdef AND pronamespace = 'public'::regnamespace
        UNION ALL
        SELECT relname, NULL, NULL FROM pg_class
        WHERE relkind IN ('v', 'm') AND relnamespace = 'public'::regnamespace
        """,
    )
    owner = "agent_rft_owner"
    assert sorted(found) == [
        (name, ["search_path=pg_catalog, pg_temp"], [f"{owner}=X/{owner}", f"{APP}=X/{owner}"])
        for name in sorted(OWNERS_FUNCTIONS)
    ]


def test_new_secret_keys_reach_every_table_with_sealed_secrets(database: Database) -> None:
    query = "SELECT tablename FROM pg_policies WHERE policyname = 'rewrap'"
    visible = {table for (table,) in _rows(database, query)}
    assert {column.table.__tablename__ for column in SEALED} <= visible
