"""Migrates a database to the newest schema: `python -m app.embedded.migrate`.

Owns: locating the migration scripts and running them as the owning role. Promises: several
processes may run it at once, because the scripts' environment takes an advisory lock.
Must not know: the content of a migration.
"""

import sys
from typing import TYPE_CHECKING

from app.embedded.errors import EmbeddedError
from app.embedded.servers.binaries import package_dir
from app.settings.host import HostSettings

if TYPE_CHECKING:
    from alembic.config import Config


def upgrade(owner_url: str) -> None:
    """Runs every migration that the database lacks. Raises `EmbeddedError`."""
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
    """Returns the revisions that this version knows."""
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


if __name__ == "__main__":
    main()
