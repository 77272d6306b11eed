"""A job's `method` as stored and echoed: one class per type, joined in the closed union
`StoredMethod`.

Owns the document `{"type": "dpo", "dpo": {…}}`: resolved, with redacted secrets and unknown keys.
Promises that reading a row validates nothing, since a page has a hundred jobs and older rows may
have values that are refused today; `parse` validates on demand. Must not know how a method trains.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.supervised import DpoMethod, MethodType, SupervisedMethod


@dataclass(frozen=True, slots=True)
class _StoredDocument:
    document: dict[str, Any]
    """The whole `method` object."""

    kind: ClassVar[MethodType]

    @property
    def options(self) -> dict[str, Any]:
        """The object under the type's own key."""
        options: dict[str, Any] = self.document[self.kind]
        return options

    def with_options(self, options: dict[str, Any]) -> Self:
        return type(self)({**self.document, self.kind: options})


@dataclass(frozen=True, slots=True)
class StoredReinforcementMethod(_StoredDocument):
    kind: ClassVar[Literal["reinforcement"]] = "reinforcement"

    def parse(self) -> ReinforcementMethod:
        return ReinforcementMethod.model_validate(self.options)


@dataclass(frozen=True, slots=True)
class StoredSupervisedMethod(_StoredDocument):
    kind: ClassVar[Literal["supervised"]] = "supervised"

    def parse(self) -> SupervisedMethod:
        return SupervisedMethod.model_validate(self.options)


@dataclass(frozen=True, slots=True)
class StoredDpoMethod(_StoredDocument):
    kind: ClassVar[Literal["dpo"]] = "dpo"

    def parse(self) -> DpoMethod:
        return DpoMethod.model_validate(self.options)


StoredMethod = StoredReinforcementMethod | StoredSupervisedMethod | StoredDpoMethod


def stored_method(document: dict[str, Any]) -> StoredMethod:
    """Returns a document as its class. Raises `ValueError` for an unknown type."""
    match document["type"]:
        case "reinforcement":
            return StoredReinforcementMethod(document)
        case "supervised":
            return StoredSupervisedMethod(document)
        case "dpo":
            return StoredDpoMethod(document)
        case unknown:
            raise ValueError(f"no method has the type {unknown!r}")
