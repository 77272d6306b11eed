"""`agent-rft keys`: the commands, whose modules are imported only when one runs."""

import typer

from app.cli.options import DEFAULT_DATA_DIR, DataDirOption

keys = typer.Typer(help="API keys.", no_args_is_help=True)


@keys.command("bootstrap")
def keys_bootstrap() -> None:
    """Create the development organization, project and keys; print both keys as JSON.

    Example: agent-rft keys bootstrap
    """
    from app.cli.keys.keys import bootstrap  # noqa: PLC0415 - keeps `agent-rft --help` fast

    bootstrap()


@keys.command("sign-in-link")
def keys_sign_in_link() -> None:
    """Print the secret of a link to the dashboard that signs in once, within an hour.

    The API key comes from standard input; the page is /sign-in#link=SECRET of the service.

    Example: agent-rft keys sign-in-link < key.txt
    """
    from app.cli.keys.keys import sign_in_link  # noqa: PLC0415 - keeps `agent-rft --help` fast

    sign_in_link()


@keys.command("rewrap")
def keys_rewrap(*, data_dir: DataDirOption = DEFAULT_DATA_DIR) -> None:
    """Wrap every sealed secret under the newest secret key; print counts as JSON. Safe to repeat.

    The service may run meanwhile. AGENT_RFT_SECRET_KEY is the newest key and
    AGENT_RFT_OLDER_SECRET_KEYS a JSON list of those that it replaces.

    Example: agent-rft keys rewrap
    """
    from app.cli.keys.keys import rewrap  # noqa: PLC0415 - keeps `agent-rft --help` fast

    raise typer.Exit(rewrap(data_dir))
