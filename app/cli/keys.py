"""`agent-rft keys`: creates the development organization, project and keys; makes sign-in links of
the dashboard; wraps sealed secrets under the newest secret key.
"""

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from app.cli.remote import DEFAULT_DATA_DIR, DataDirOption
from app.database import Database
from app.local.layout import UpOptions, build_settings
from app.local.state import DataDir, load_state
from app.settings import HostSettings, Settings, load_settings
from app.wiring import dashboard_session_service, provisioning_service, rewrapping_service

DEVELOPMENT_SLUG = "development"
DEFAULT_PORT = 8000

keys = typer.Typer()


@keys.command("bootstrap")
def bootstrap() -> None:
    """Create the development organization, project and keys; print both keys as JSON.

    Example: agent-rft keys bootstrap
    """
    print(json.dumps(asyncio.run(_bootstrap(load_settings()))))


async def _bootstrap(settings: Settings) -> dict[str, str]:
    database = Database(settings.database_url, pool_size=1)
    try:
        provisioned = await provisioning_service(settings, database).provision(
            slug=DEVELOPMENT_SLUG, title="Development", project_name="default"
        )
        return asdict(provisioned)
    finally:
        await database.dispose()


@keys.command("sign-in-link")
def sign_in_link() -> None:
    """Print the secret of a link to the dashboard that signs in once, within an hour.

    The API key comes from standard input; the page is /sign-in#link=SECRET of the service.

    Example: agent-rft keys sign-in-link < key.txt
    """
    print(asyncio.run(_sign_in_link(load_settings(), sys.stdin.read().strip())))


async def _sign_in_link(settings: Settings, api_key: str) -> str:
    database = Database(settings.database_url, pool_size=1)
    try:
        return await dashboard_session_service(settings, database).make_link(api_key)
    finally:
        await database.dispose()


@keys.command("rewrap")
def rewrap(*, data_dir: DataDirOption = DEFAULT_DATA_DIR) -> None:
    """Wrap every sealed secret under the newest secret key; print counts as JSON. Safe to repeat.

    The service may run meanwhile. AGENT_RFT_SECRET_KEY is the newest key and
    AGENT_RFT_OLDER_SECRET_KEYS a JSON list of those that it replaces.

    Example: agent-rft keys rewrap
    """
    report = asyncio.run(_rewrap(_owner_settings(data_dir)))
    print(json.dumps(report, indent=1))
    # A blob whose key is not configured stays as it is.
    raise typer.Exit(int(any(table.get("unreadable") for table in report.values())))


async def _rewrap(settings: Settings) -> dict[str, Any]:
    if settings.owner_database_url is None:
        raise TypeError("the settings of an owner have its URL")
    database = Database(settings.owner_database_url, pool_size=1)
    try:
        return await rewrapping_service(settings, database).run()
    finally:
        await database.dispose()


def _owner_settings(data_dir: Path) -> Settings:
    """Returns the settings of the environment, else of the directory. Raises `DataDirUnusable`."""
    host = HostSettings()
    if host.owner_database_url is not None:
        return Settings(database_url=host.owner_database_url)
    directory = DataDir.existing(data_dir)
    options = UpOptions(port=DEFAULT_PORT)
    return build_settings(options, host=host, state=load_state(directory), data_dir=directory)
