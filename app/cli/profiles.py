"""`agent-rft profiles`, and the address and key that a command takes. No key is printed."""

import fcntl
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

import typer
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from app.cli.output import Output, note
from app.cli.remote import JsonOption
from app.cli.terminal import WrongOption, local_faults, read_stdin, whole_file

DEFAULT: Final = "default"
"""The profile of a command without any other address."""


class Profile(BaseModel):
    base_url: str
    api_key: str = Field(repr=False)


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    base_url: str | None
    api_key: str | None = field(repr=False)


NOWHERE: Final = ServiceAddress(None, None)


@dataclass(frozen=True, slots=True)
class AddressSources:
    base_url: str | None
    api_key: str | None = field(repr=False)
    profile: str | None
    variables: ServiceAddress = NOWHERE


_LOCK: Final = ".profiles.lock"
_FILE: Final = TypeAdapter(dict[str, Profile])


def profiles_file() -> Path:
    return Path(typer.get_app_dir("agent-rft")) / "profiles.json"


def read_profiles() -> dict[str, Profile]:
    """Raises `ServiceError` for a file that others may read, or that has no profiles."""
    path = profiles_file()
    with local_faults(path):
        try:
            file = path.open("rb")
        except FileNotFoundError:
            return {}
        with file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise WrongOption(f"others may read {path}: run chmod 600 on it")
            content = file.read()
    try:
        return _FILE.validate_json(content)
    except ValidationError as error:
        raise WrongOption(f"{path} is not a file of profiles: correct or remove it") from error


@contextmanager
def changing_profiles() -> Iterator[dict[str, Profile]]:
    with _locked():
        known = read_profiles()
        yield known
        write_profiles(known)


@contextmanager
def _locked() -> Iterator[None]:
    path = profiles_file()
    with local_faults(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The lock has a file of its own, because each write puts a new file in place.
        lock = os.open(path.with_name(_LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def write_profiles(known: Mapping[str, Profile]) -> None:
    """Writes the file; a link stays, and its target is written."""
    path = profiles_file()
    content = {name: profile.model_dump() for name, profile in sorted(known.items())}
    with local_faults(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with whole_file(path.resolve()) as file:
            file.write(f"{json.dumps(content, indent=1)}\n".encode())


def variables_of(environment: Mapping[str, str], *, key_is_typed: bool = False) -> ServiceAddress:
    """Returns the address and key of one family of variables. OpenAI's variables count only as a
    pair, so not beside an option with a key, and only if those of agent-rft are unset: many shells
    have `OPENAI_API_KEY` for another service.
    """
    ours, theirs = (
        (environment.get(f"{family}_BASE_URL"), environment.get(f"{family}_API_KEY"))
        for family in ("AGENT_RFT", "OPENAI")
    )
    if any(ours):
        return ServiceAddress(ours[0] or None, ours[1] or None)
    return ServiceAddress(*theirs) if all(theirs) and not key_is_typed else NOWHERE


def address_of(named: AddressSources) -> ServiceAddress:
    """Returns the address and key of a command: from options, else the chosen profile, else
    variables, else the profile `default`. A key is only sent to the address of the same source, or
    to an address option beside a key that has no address.
    """
    if named.profile is not None:
        return _address_by_profile(named, named.profile)
    if named.base_url is not None:
        return ServiceAddress(named.base_url, named.api_key or _key_of_variables(named))
    if named.variables.base_url is not None:
        return ServiceAddress(named.variables.base_url, named.api_key or named.variables.api_key)
    if DEFAULT in read_profiles():
        if named.api_key is None and named.variables.api_key is not None:
            raise WrongOption(
                f"AGENT_RFT_API_KEY is set without AGENT_RFT_BASE_URL, and the profile {DEFAULT} "
                f"has a key of its own: set both variables or none, or pass --profile {DEFAULT}"
            )
        return _address_by_profile(named, DEFAULT)
    return ServiceAddress(None, named.api_key or named.variables.api_key)


def _address_by_profile(named: AddressSources, name: str) -> ServiceAddress:
    profile = _profile(name)
    base_url = profile.base_url if named.base_url is None else named.base_url
    if named.api_key is not None:
        return ServiceAddress(base_url, named.api_key)
    if not _is_same(base_url, profile.base_url):
        raise WrongOption(
            f"the key of the profile {name} is for {profile.base_url} only: pass --api-key "
            "with --base-url"
        )
    return ServiceAddress(base_url, profile.api_key)


def _key_of_variables(named: AddressSources) -> str | None:
    address = named.variables.base_url
    if named.variables.api_key is None:
        return None
    if address is not None and not _is_same(address, named.base_url):
        raise WrongOption(
            "the key of the variables is for their own address only: pass --api-key with --base-url"
        )
    return named.variables.api_key


def _is_same(first: str, second: str | None) -> bool:
    return second is not None and first.rstrip("/") == second.rstrip("/")


def _profile(name: str) -> Profile:
    known = read_profiles()
    if name not in known:
        raise WrongOption(f"no profile {name}; there are: {', '.join(sorted(known)) or 'none'}")
    return known[name]


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
