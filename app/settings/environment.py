"""Reads and writes environments: the settings as variables, the environment that a child inherits,
and the variables of libraries and of the system.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from app.settings.settings import Settings
from app.settings.sources import PREFIX


def to_environment(settings: Settings) -> dict[str, str]:
    """Returns the tree as environment variables, from which ``load_settings()`` reads an equal
    tree.
    """
    variables: dict[str, str] = {}
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if value is not None:
            variables[PREFIX + name.upper()] = _to_variable(value)
    return variables


def _to_variable(value: Any) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    if isinstance(value, tuple):
        return json.dumps([_to_item(item) for item in value])
    return str(value)


def _to_item(item: Any) -> Any:
    return item.get_secret_value() if isinstance(item, SecretStr) else item.model_dump(mode="json")


def inherited_environment() -> dict[str, str]:
    """Returns this process's environment without `AGENT_RFT_…` and locale, for a child process.

    An ``LC_*`` with a locale that is not installed makes initdb fail (measured), so it is removed.
    """
    excluded = ("LC_", "LANG", PREFIX)
    return {name: value for name, value in os.environ.items() if not name.startswith(excluded)}


def set_variables(names: Sequence[str]) -> dict[str, str]:
    """Returns those variables of a library that are set and not empty."""
    return {name: os.environ[name] for name in names if os.environ.get(name)}


def cache_directory() -> Path:
    """Returns the user's directory of caches, by the XDG base directory specification."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
