"""Creates the roles and the database of the embedded cluster.

Owns: `roles.sql`: three login roles without special rights, one database owned by the first.
Promises: safe to repeat; the service never connects as the superuser, who bypasses row-level
security. Must not know: tables and grants, which the migrations own.
"""

from pathlib import Path

from app.embedded.servers.postgres import PostgresServer
from app.embedded.state import InstallationState
from app.settings.database import APP_ROLE, OWNER_ROLE, WORKER_ROLE

DATABASE = "agent_rft"
_SCRIPT = Path(__file__).with_name("roles.sql")


def provision(
    server: PostgresServer, state: InstallationState, *, database: str = DATABASE
) -> None:
    """Creates the missing roles and database, and sets every password to the state's."""
    variables = {
        "database": database,
        "owner": OWNER_ROLE,
        "app": APP_ROLE,
        "worker": WORKER_ROLE,
        "owner_password": state.owner_password,
        "app_password": state.app_password,
        "worker_password": state.worker_password,
    }
    # Standard input hides the passwords: every user can read the arguments of a process.
    definitions = "".join(f"\\set {name} '{value}'\n" for name, value in variables.items())
    server.execute(definitions + _SCRIPT.read_text())


def database_url(port: int, *, role: str, password: str, database: str = DATABASE) -> str:
    """Returns the SQLAlchemy URL of one role. Generated passwords are URL-safe."""
    return f"postgresql+psycopg://{role}:{password}@127.0.0.1:{port}/{database}"
