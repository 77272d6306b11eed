"""Registered objects of a project: tools, graders, curricula, environments and recipes, to which
jobs and plans refer by id.

An update makes a new version and leaves the earlier ones unchanged.
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
    """One version of a registered object."""

    id: str
    noun: Noun
    version: int
    """Number of the version, from 1, without gaps."""
    name: str
    definition: dict[str, Any]
    """The object's own keys, header values redacted."""
    metadata: dict[str, str] | None
    secrets: bytes | None = field(default=None, repr=False)
    """The headers, sealed for this version of this object."""
    created_at: int
    """Creation time of the object, unix seconds."""
    updated_at: int
    """Creation time of this version."""
    unread: tuple[UnreadKey, ...] = ()
    """Unknown keys of a definition that was just sent, which are dropped."""
    unused: tuple[NoEffect, ...] = ()
    """Parts of a definition that was just sent, which can change nothing."""


@dataclass(frozen=True, slots=True)
class LabelChanges:
    """Name and metadata of an update."""

    name: str | None
    """`None` keeps the earlier name."""
    metadata: dict[str, str] | None
    sets_metadata: bool
    """False keeps the earlier metadata."""

    def name_after(self, before: RegisteredVersion) -> str:
        return before.name if self.name is None else self.name

    def metadata_after(self, before: RegisteredVersion) -> dict[str, str] | None:
        return self.metadata if self.sets_metadata else before.metadata
