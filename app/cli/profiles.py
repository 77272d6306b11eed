"""The file of profiles, and the address and key that a command uses."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import typer
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from app.cli.terminal import WrongOption, local_faults, whole_file

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
    """The sources of address and key: options, a profile named by an option or a variable, and
    variables.
    """

    base_url: str | None
    api_key: str | None = field(repr=False)
    profile: str | None
    variables: ServiceAddress = NOWHERE


_LOCK: Final = ".profiles.lock"
_FILE: Final = TypeAdapter(dict[str, Profile])


def profiles_file() -> Path:
    return Path(typer.get_app_dir("agent-rft")) / "profiles.json"


def read_profiles() -> dict[str, Profile]:
    """Reads the profiles. Raises `ServiceError` for a file that others may read, or that is not a
    file of profiles.
    """
    path = profiles_file()
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise WrongOption(f"others may read {path}: run chmod 600 on it")
            return _FILE.validate_json(file.read())
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        raise WrongOption(f"{path} is not a file of profiles: correct or remove it") from error
    except OSError as error:
        raise WrongOption(f"{path}: {error.strerror}") from error


@contextmanager
def changing_profiles() -> Iterator[dict[str, Profile]]:
    """Yields the profiles, and writes them after the block. Only one program at a time does
    this.
    """
    with _locked():
        profiles = read_profiles()
        yield profiles
        write_profiles(profiles)


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


def write_profiles(profiles: Mapping[str, Profile]) -> None:
    """Writes the file; a link stays, and its target is written."""
    path = profiles_file()
    content = {name: profile.model_dump() for name, profile in sorted(profiles.items())}
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
    """Returns the variables' key for a typed address. Raises `ServiceError` if they have another
    address.
    """
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
    profiles = read_profiles()
    if name not in profiles:
        known = ", ".join(sorted(profiles)) or "none"
        raise WrongOption(f"no profile {name}; there are: {known}")
    return profiles[name]
