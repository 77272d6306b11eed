"""The database's URL and its login roles."""

from typing import Annotated

from pydantic import AfterValidator

# Login roles, none a superuser. The supervisor creates them, and migrations grant rights to them.
OWNER_ROLE = "agent_rft_owner"
APP_ROLE = "agent_rft_app"
WORKER_ROLE = "agent_rft_worker"
_DRIVER = "postgresql+psycopg://"


def _psycopg_url(value: str) -> str:
    # The default driver of a plain postgresql:// differs between SQLAlchemy 2.0 and 2.1.
    if not value.startswith(_DRIVER):
        raise ValueError(f"a database URL must start with {_DRIVER}")
    return value


DatabaseUrl = Annotated[str, AfterValidator(_psycopg_url)]
