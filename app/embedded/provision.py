"""Roles and database of the embedded cluster.

Owns: `roles.sql`: three login roles without any special right, one database owned by the first.
Promises: safe to repeat; nothing of the service ever connects as the superuser, who sees through
row-level security. Must not know: tables and grants; the migrations own those.
"""

from pathlib import Path

from app.embedded.postgres import PostgresServer
from app.embedded.state import State
from app.settings import APP_ROLE, OWNER_ROLE, WORKER_ROLE

DATABASE = "agent_rft"
_SCRIPT = Path(__file__).with_name("roles.sql")


def provision(server: PostgresServer, state: State, *, database: str = DATABASE) -> None:
    """Make what is missing and set every password to the state's."""
    variables = {
        "database": database,
        "owner": OWNER_ROLE,
        "app": APP_ROLE,
        "worker": WORKER_ROLE,
        "owner_password": state.owner_password,
        "app_password": state.app_password,
        "worker_password": state.worker_password,
    }
    # Through standard input: arguments of a process can be read by every user.
    given = "".join(f"\\set {name} '{value}'\n" for name, value in variables.items())
    server.execute(given + _SCRIPT.read_text())


def database_url(port: int, *, role: str, password: str, database: str = DATABASE) -> str:
    """SQLAlchemy URL of one role. Passwords are URL-safe by construction."""
    return f"postgresql+psycopg://{role}:{password}@127.0.0.1:{port}/{database}"
