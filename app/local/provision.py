"""Gives an installation what its processes need: the schema, the roles, the keys, and a reserve on
the disk. `python -m app.local.provision` migrates alone.
"""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from app.kit.directories import free_bytes
from app.kit.processes import running_module
from app.local.processes import CommandFailed, run_once
from app.local.servers import PostgresServer, package_dir
from app.local.state import EmbeddedError, InstallationState
from app.settings import APP_ROLE, OWNER_ROLE, WORKER_ROLE, HostSettings, Settings, to_environment

if TYPE_CHECKING:
    from alembic.config import Config


DATABASE = "agent_rft"
_SCRIPT = Path(__file__).with_name("roles.sql")

log = structlog.get_logger()

RESERVE_BYTES: Final = 16 * 1024**2


def upgrade(owner_url: str) -> None:
    from alembic import command  # noqa: PLC0415 - half a second of imports
    from alembic.util import CommandError  # noqa: PLC0415 - as above

    config = _config()
    config.attributes["url"] = owner_url
    try:
        command.upgrade(config, "head")
    except CommandError as fault:
        raise EmbeddedError(
            f"the database was made by another version of agent-rft, newer than this one or from "
            f"before the first release, and stays as it is ({fault}): install that version"
        ) from fault


def revisions() -> frozenset[str]:
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - half a second of imports

    scripts = ScriptDirectory.from_config(_config())
    return frozenset(script.revision for script in scripts.walk_revisions())


def _config() -> "Config":
    from alembic.config import Config  # noqa: PLC0415 - keeps `agent-rft --help` fast

    scripts = package_dir("migrations")
    if scripts is None or not (scripts / "alembic.ini").is_file():
        raise EmbeddedError("the migration scripts are not installed next to this package")
    config = Config(str(scripts / "alembic.ini"))
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    return config


def main() -> None:
    owner_url = HostSettings().owner_database_url
    if owner_url is None:
        sys.exit("AGENT_RFT_OWNER_DATABASE_URL is not set: migrations run as the owning role")
    try:
        upgrade(owner_url)
    except EmbeddedError as failure:
        sys.exit(str(failure))


def provision(
    server: PostgresServer, state: InstallationState, *, database: str = DATABASE
) -> None:
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


class Reserve:
    """A file to delete when the disk is full, so that Postgres can still end in order."""

    def __init__(
        self,
        path: Path,
        *,
        minimum_bytes: int,
        size: int = RESERVE_BYTES,
        measure: Callable[[Path], int] = free_bytes,
    ) -> None:
        """`minimum_bytes`: free space that must remain beside the file when it is created again."""
        self._path = path
        self._minimum_bytes = minimum_bytes
        self._size = size
        self._measure = measure

    def keep(self) -> None:
        """Creates or removes the file, depending on the free space. Call often."""
        with suppress(OSError):
            free, held = self._measure(self._path.parent), self._path.exists()
            if held and free < self._size:
                self._path.unlink()
                log.error("disk_full", free_bytes=free, released_bytes=self._size)
            elif not held and free > self._minimum_bytes + 2 * self._size:
                self._create()

    def release(self) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _create(self) -> None:
        try:
            self._path.touch(mode=0o600)
            with self._path.open("wb") as file:
                file.write(bytes(self._size))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            self._path.unlink(missing_ok=True)


def make_sign_in_link(state: InstallationState, settings: Settings) -> str | None:
    """Returns the secret of a link that signs in once; `None` if the key has been revoked."""
    try:
        output = run_once(
            running_module("app.cli.main", "keys", "sign-in-link"),
            environment=to_environment(settings),
            text_in=state.api_key,
            timeout_s=60.0,
        )
    except CommandFailed as failure:
        log.warning("no_sign_in_link", reason=str(failure).splitlines()[-1])
        return None
    return output.strip()


def ensure_keys(state: InstallationState, settings: Settings) -> InstallationState:
    """Returns the state with both keys, which the service's own command creates."""
    if state.api_key is not None and state.admin_key is not None:
        return state
    output = run_once(
        running_module("app.cli.main", "keys", "bootstrap"),
        environment=to_environment(settings),
        timeout_s=60.0,
    )
    try:
        keys = json.loads(output)
        return replace(state, api_key=keys["api_key"], admin_key=keys["admin_key"])
    except (ValueError, KeyError) as unexpected:
        raise CommandFailed("keys bootstrap did not print api_key and admin_key") from unexpected


if __name__ == "__main__":
    main()
