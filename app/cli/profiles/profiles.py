"""The file of profiles, and the address and key that a command uses.

Promises: the file is for its owner alone, and is written whole or not at all; a profile's key goes
to the profile's own address only.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import typer
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from app.cli.service_errors import ServiceError
from app.domain.exit_codes import WRONG_OPTIONS

DEFAULT: Final = "default"
"""The profile of a command that nothing else gives an address."""


class Profile(BaseModel):
    base_url: str
    api_key: str = Field(repr=False)


@dataclass(frozen=True, slots=True)
class Address:
    base_url: str | None
    api_key: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Named:
    """The options of a command, also from variables. A sent one stands in the command line."""

    base_url: str | None
    api_key: str | None = field(repr=False)
    profile: str | None
    sent: frozenset[str]


_FILE: Final = TypeAdapter(dict[str, Profile])


def profiles_file() -> Path:
    return Path(typer.get_app_dir("agent-rft")) / "profiles.json"


def read_profiles() -> dict[str, Profile]:
    """Raises `ServiceError` for a file that others may read, or that is no file of profiles."""
    path = profiles_file()
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise _unusable(f"others may read {path}: run chmod 600 on it")
            return _FILE.validate_json(file.read())
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        raise _unusable(f"{path} is no file of profiles: correct or remove it") from error
    except OSError as error:
        raise _unusable(f"{path}: {error.strerror}") from error


def write_profiles(profiles: Mapping[str, Profile]) -> None:
    path = profiles_file()
    content = {name: profile.model_dump() for name, profile in sorted(profiles.items())}
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A file of `mkstemp` is for its owner alone, whatever the umask.
        descriptor, made = tempfile.mkstemp(dir=path.parent, prefix=".profiles-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(f"{json.dumps(content, indent=1)}\n")
                file.flush()
                os.fsync(file.fileno())
            Path(made).replace(path)
        except BaseException:
            Path(made).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _unusable(f"{error.filename or path}: {error.strerror}") from error


def address_of(named: Named) -> Address:
    """Returns the address and key of a command: options of the command line, then the profile that
    is chosen, then variables, then the profile `default`.
    """
    chosen = named.profile
    if chosen is None and named.base_url is None:
        chosen = DEFAULT if DEFAULT in read_profiles() else None
    if chosen is None:
        return Address(named.base_url, named.api_key)
    profile = _profile(chosen)
    base_url = named.base_url if "base_url" in named.sent else profile.base_url
    api_key = named.api_key if "api_key" in named.sent else profile.api_key
    if api_key == profile.api_key and base_url != profile.base_url:
        raise _unusable(
            f"the key of the profile {chosen} is for {profile.base_url} only: pass --api-key "
            "beside --base-url"
        )
    return Address(base_url, api_key)


def _profile(name: str) -> Profile:
    profiles = read_profiles()
    if name not in profiles:
        known = ", ".join(sorted(profiles)) or "none"
        raise _unusable(f"no profile {name}; there are: {known}")
    return profiles[name]


def _unusable(message: str) -> ServiceError:
    return ServiceError(message, exit_code=WRONG_OPTIONS)
