"""Fields that registered objects of every noun share (extensions of the hosted API)."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, Self

from fastapi import Query
from pydantic import Field

from app.api.schemas.common import WireModel
from app.domain.documents.field_descriptions import DescribedModel
from app.domain.documents.walk import FieldKind, WalkedField
from app.domain.faults.no_effect import CONSTANT_GRADER, NoEffect
from app.domain.faults.unknown_keys import UNKNOWN_PARAMETER, UnreadKey, unknown_key_error, unread
from app.domain.registry.registered_objects import LabelChanges, RegisteredVersion

_MOST_WARNINGS: Final = 200
Version = Annotated[
    int | None, Query(ge=1, le=2**31 - 1, description="Number of a version; the newest when absent")
]


class RegistryWarning(DescribedModel):
    """A part of the request that is accepted and changes nothing: an unknown key, or a grader that
    reads no sample.
    """

    code: Literal["unknown_parameter", "constant_grader"] = UNKNOWN_PARAMETER
    """The fault in a word that programs can compare."""
    message: str
    """The fault in a sentence, with the nearest known name."""
    param: str
    """The part, as a path from the body."""

    @classmethod
    def of(cls, key: UnreadKey) -> Self:
        return cls(message=key.message, param=key.param)

    @classmethod
    def of_unused(cls, part: NoEffect) -> Self:
        return cls(code=CONSTANT_GRADER, message=f"{part.message}.", param=part.param)


class RegisteredObject(DescribedModel):
    """Fields of every registered object that the service sets."""

    id: str
    created_at: int
    updated_at: int
    """Creation time of this version."""
    version: int
    """Number of the version, from 1."""
    name: str
    """Name that no other object of this type in the project has."""
    metadata: dict[str, str] | None
    warnings: list[RegistryWarning] | None = Field(
        default=None, exclude_if=lambda value: value is None
    )
    """Parts of this request without effect; only in the reply to a create or an update."""


def unread_keys(body: WireModel, shown: type[RegisteredObject]) -> tuple[UnreadKey, ...]:
    """Returns the unknown keys outside the definition; keys of a reply may be sent back.

    Raises `InvalidRequest` for the first one that is refused.
    """
    known = frozenset(type(body).model_fields)
    walked = [
        WalkedField(FieldKind.UNKNOWN, (key,), value, body, known=known)
        for key, value in (body.model_extra or {}).items()
        if value is not None and key not in shown.model_fields
    ]
    for field in walked:
        if (fault := unknown_key_error(field, "")) is not None:
            raise fault
    return tuple(unread(walked, ""))


def label_changes(body: WireModel) -> LabelChanges:
    """Reads `name` and `metadata` of an update, whose absent fields do not change."""
    sent = body.model_dump(include={"name", "metadata"}, exclude_unset=True)
    return LabelChanges(sent.get("name"), sent.get("metadata"), "metadata" in sent)


def own_keys(registered: RegisteredVersion, unread: Sequence[UnreadKey] = ()) -> dict[str, Any]:
    """Returns the fields that the service sets. `unread` are keys beside the definition."""
    return {
        "id": registered.id,
        "created_at": registered.created_at,
        "updated_at": registered.updated_at,
        "version": registered.version,
        "name": registered.name,
        "metadata": registered.metadata,
        "warnings": warnings_of([*unread, *registered.unread], registered.unused),
    }


def warnings_of(
    unread: Sequence[UnreadKey], unused: Sequence[NoEffect]
) -> list[RegistryWarning] | None:
    """Returns the warnings of a reply, `None` without any."""
    found = [RegistryWarning.of_unused(part) for part in unused]
    found += [RegistryWarning.of(key) for key in unread]
    return found[:_MOST_WARNINGS] or None
