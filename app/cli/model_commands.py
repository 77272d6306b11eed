"""`agent-rft models`: the commands, whose modules are imported only when one runs."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import ApiKeyOption, BaseUrlOption

NameArgument = Annotated[str, typer.Argument(help="Tuned model or checkpoint, as chat takes it.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace an earlier download in DIR.")]

models = typer.Typer(help="Models of a running service.", no_args_is_help=True)


@models.command("list")
def models_list(
    *,
    base_url: BaseUrlOption = None,
    api_key: ApiKeyOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the models that a project may call, with time of creation and owner."""
    from app.cli.models import print_models  # noqa: PLC0415 - keeps `agent-rft --help` fast

    print_models(base_url, api_key, as_json=as_json)


@models.command("download")
def models_download(
    *,
    name: NameArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="New directory for the adapter; by default the name."),
    ] = None,
    force: ForceOption = False,
    base_url: BaseUrlOption = None,
    api_key: ApiKeyOption = None,
) -> None:
    """Download the adapter of a model as a PEFT directory; print the directory.

    Every file is checked by its SHA-256, and DIR appears whole or not at all. An interrupted
    download goes on when the same command runs again.
    """
    from app.cli.models import download  # noqa: PLC0415 - keeps `agent-rft --help` fast

    download(name, out, base_url=base_url, api_key=api_key, force=force)


@models.command("export")
def models_export(
    *,
    name: NameArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="New directory; by default the name and `-merged`."),
    ] = None,
    force: ForceOption = False,
    base_url: BaseUrlOption = None,
    api_key: ApiKeyOption = None,
) -> None:
    """Have a model merged with its base, and download the weights; print the directory.

    Takes an export that the service still has, or waits for a new one. Interrupted, it goes on
    when the same command runs again.
    """
    from app.cli.models import export  # noqa: PLC0415 - keeps `agent-rft --help` fast

    export(name, out, base_url=base_url, api_key=api_key, force=force)
