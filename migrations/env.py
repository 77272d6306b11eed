"""Runs migrations as the owning role, one process at a time.

The URL comes from `config.attributes["url"]`, else from AGENT_RFT_OWNER_DATABASE_URL.
"""

from alembic import context
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from app.settings import HostSettings
from app.tables import Base

# An arbitrary number; every migrating process must use the same one.
_ADVISORY_LOCK = 7_262_401_190
_LOCK_TIMEOUT = "10s"


def _url() -> str:
    url = context.config.attributes.get("url") or HostSettings().owner_database_url
    if url is None:
        raise SystemExit("AGENT_RFT_OWNER_DATABASE_URL is not set")
    return str(url)


def run() -> None:
    engine = create_engine(_url(), poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _ADVISORY_LOCK})
        connection.execute(text(f"SET lock_timeout = '{_LOCK_TIMEOUT}'"))
        connection.commit()
        context.configure(
            connection=connection, target_metadata=Base.metadata, compare_server_default=True
        )
        with context.begin_transaction():
            context.run_migrations()
        connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _ADVISORY_LOCK})
        connection.commit()
    engine.dispose()


run()
