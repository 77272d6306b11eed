"""Registered objects of a project, to which jobs and plans refer by id. An update makes a new
version.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from app.kit.errors import NoEffect
from app.kit.faults import UnreadKey


class Noun(StrEnum):
    TOOL = "tool"
    GRADER = "grader"
    CURRICULUM = "curriculum"
    ENVIRONMENT = "environment"
    RECIPE = "recipe"


ID_PREFIXES: Final = {
    Noun.TOOL: "tool_",
    Noun.GRADER: "grader_",
    Noun.CURRICULUM: "curr_",
    Noun.ENVIRONMENT: "env_",
    Noun.RECIPE: "recipe_",
}
SERVICE_KEYS: Final = frozenset(
    {
        "id",
        "object",
        "created_at",
        "updated_at",
        "version",
        "project_id",
        "organization_id",
        "warnings",
    }
)
"""Keys that the service sets; they are ignored in a request body."""
SEALED_VERSION: Final = "/versions/"
"""Stands between id and number of the version to which sealed secrets are bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredVersion:
    id: str
    noun: Noun
    version: int
    name: str
    definition: dict[str, Any]
    """The object's own keys, header values redacted."""
    metadata: dict[str, str] | None
    secrets: bytes | None = field(default=None, repr=False)
    created_at: int
    updated_at: int
    unread: tuple[UnreadKey, ...] = ()
    unused: tuple[NoEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelChanges:
    name: str | None
    metadata: dict[str, str] | None
    sets_metadata: bool
