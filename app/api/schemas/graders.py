"""Registered graders on the wire (an extension); the configuration inside is the hosted one."""

from collections.abc import Sequence
from typing import Literal

from app.api.schemas.common import ClosedBody, Metadata, WireModel
from app.api.schemas.jobs import Text
from app.api.schemas.registry import RegisteredObject, own_keys
from app.api.schemas.trials import HeaderSafe, SampleParts
from app.domain.documents.json_object import Json
from app.domain.faults.unknown_keys import UnreadKey
from app.domain.graders.graders import Grader
from app.domain.registry.registered_objects import RegisteredVersion


class CreateGrader(WireModel):
    """A new registered grader."""

    name: Text
    """Name that no other grader of the project has."""
    grader: Grader
    """The grader, as in a create call of a job."""
    metadata: Metadata | None = None


class UpdateGrader(WireModel):
    """Changes that make a new version of a grader; absent fields do not change."""

    name: Text | None = None
    """Name that no other grader of the project has."""
    grader: Grader | None = None
    """The new definition; `[redacted]` keeps a secret while its address stays."""
    metadata: Metadata | None = None


class RegisteredGrader(RegisteredObject):
    """A version of a registered grader, which jobs refer to by id."""

    object: Literal["grader"] = "grader"
    grader: Json
    """The definition, with secrets redacted."""

    @classmethod
    def of(
        cls, registered: RegisteredVersion, unread: Sequence[UnreadKey] = ()
    ) -> "RegisteredGrader":
        return cls.model_validate({"grader": registered.definition, **own_keys(registered, unread)})


class RunRegisteredGrader(ClosedBody):
    """The sample that a registered grader scores in a trial run."""

    model_sample: str
    """The answer that is graded."""
    item: Json | None = None
    """The row, as templates and endpoints read it."""
    sample: SampleParts | None = None
    """Further keys of `sample` besides the answer (an extension)."""
    trace_id: HeaderSafe | None = None
    """Id of the call, sent to an endpoint."""
