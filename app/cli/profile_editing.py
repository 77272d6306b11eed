"""`agent-rft profiles add`, `list` and `remove`. No key is printed."""

import re
import sys
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import typer

from app.cli.output import Output, columns, console, note
from app.cli.profiles import (
    Profile,
    changing_profiles,
    profiles_file,
    read_profiles,
    unusable,
)
from app.cli.terminal import read_stdin

_NAME: Final = re.compile(r"[\w.-]{1,64}")


def add(name: str, base_url: str, *, force: bool) -> None:
    if not _NAME.fullmatch(name):
        raise unusable("a name has letters, digits, '.', '_' and '-', at most 64")
    _check_address(base_url)
    _check_free(name, read_profiles(), force=force)
    api_key = _read_key()
    with changing_profiles() as profiles:
        _check_free(name, profiles, force=force)
        profiles[name] = Profile(base_url=base_url, api_key=api_key)
    note(f"profile {name} is in {profiles_file()}")


def show(*, as_json: bool) -> None:
    out = Output("profiles list", as_json)
    with out.failures():
        profiles = sorted(read_profiles().items())
    listed = [{"name": name, "base_url": profile.base_url} for name, profile in profiles]

    def text() -> None:
        rows = [(row["name"], row["base_url"]) for row in listed]
        console().print(columns(("NAME", "ADDRESS"), rows))

    out.result(listed, text)


def remove(name: str) -> None:
    with changing_profiles() as profiles:
        if profiles.pop(name, None) is None:
            raise unusable(f"no profile {name}")
    note(f"profile {name} is removed")


def _check_free(name: str, profiles: Mapping[str, Profile], *, force: bool) -> None:
    if name in profiles and not force:
        raise unusable(f"there is a profile {name}: pass --force to replace it")


def _check_address(base_url: str) -> None:
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        has_user = "@" in parts.netloc
        _ = parts.port
    except ValueError:
        usable = has_user = False
    if has_user:
        raise unusable("an address must have no user and no password: the key is the only secret")
    if not usable:
        raise unusable("an address begins with http:// or https:// and has a host")


def _read_key() -> str:
    if sys.stdin.isatty():
        key = str(typer.prompt("API key", hide_input=True, err=True)).strip()
    else:
        key = read_stdin(10_000).strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise unusable("standard input has no API key")
    return key
