"""`agent-rft profiles add`, `list` and `remove`. No key is printed."""

import re
import sys
from collections.abc import Mapping
from typing import Annotated, Final
from urllib.parse import urlsplit

import typer

from app.cli.options import JsonOption
from app.cli.output import Output, note
from app.cli.profiles import (
    Profile,
    changing_profiles,
    profiles_file,
    read_profiles,
)
from app.cli.terminal import WrongOption, read_stdin

_NAME: Final = re.compile(r"[\w.-]{1,64}")
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the profile.")]

profiles = typer.Typer()


@profiles.command("add")
def add(
    *,
    name: NameArgument,
    base_url: Annotated[str, typer.Option(help="Address of the service, with its /v1.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a profile.")] = False,
) -> None:
    """Add a profile. The key is prompted for, or read from standard input; no option takes it,
    because other users see a process's arguments. The profile `default` needs no --profile.

    Example: agent-rft profiles add default --base-url http://127.0.0.1:8000/v1 < key.txt
    """
    if not _NAME.fullmatch(name):
        raise WrongOption("a name has letters, digits, '.', '_' and '-', at most 64")
    _check_address(base_url)
    _check_free(name, read_profiles(), force=force)
    api_key = _read_key()
    with changing_profiles() as known:
        _check_free(name, known, force=force)
        known[name] = Profile(base_url=base_url, api_key=api_key)
    note(f"profile {name} is in {profiles_file()}")


@profiles.command("list")
def show(*, as_json: JsonOption = False) -> None:
    """List profiles with their addresses. Keys are never printed.

    Example: agent-rft profiles list --json
    """
    out = Output("profiles list", as_json)
    with out.failures():
        known = sorted(read_profiles().items())
    listed = [{"name": name, "base_url": profile.base_url} for name, profile in known]
    out.table(listed, ("NAME", "ADDRESS"), lambda row: (row.text("name"), row.text("base_url")))


@profiles.command("remove")
def remove(*, name: NameArgument) -> None:
    """Remove a profile with its key.

    Example: agent-rft profiles remove staging
    """
    with changing_profiles() as known:
        if known.pop(name, None) is None:
            raise WrongOption(f"no profile {name}")
    note(f"profile {name} is removed")


def _check_free(name: str, known: Mapping[str, Profile], *, force: bool) -> None:
    if name in known and not force:
        raise WrongOption(f"there is a profile {name}: pass --force to replace it")


def _check_address(base_url: str) -> None:
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        has_user = "@" in parts.netloc
        _ = parts.port
    except ValueError:
        usable = has_user = False
    if has_user:
        raise WrongOption(
            "an address must have no user and no password: the key is the only secret"
        )
    if not usable:
        raise WrongOption("an address begins with http:// or https:// and has a host")


def _read_key() -> str:
    if sys.stdin.isatty():
        key = str(typer.prompt("API key", hide_input=True, err=True)).strip()
    else:
        key = read_stdin(10_000).strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise WrongOption("standard input has no API key")
    return key
