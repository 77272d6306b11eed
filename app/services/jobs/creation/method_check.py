"""Checks the method of a create call without look-ups, and builds the form that a job stores.

One walk of the method serves the faults and the warnings. Both that and the redaction take longer
with a larger definition, so they belong on a thread. Must not know this installation.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import assert_never

from app.domain.documents.json_object import Json
from app.domain.environments.environments import built_in, is_graded_by
from app.domain.jobs.job_secrets import redact_method
from app.domain.jobs.jobs import NewJob, TuningMethod
from app.domain.methods.faults import reinforcement_faults
from app.domain.methods.method_documents import StoredMethod, stored_method
from app.domain.methods.method_models import parameters_of
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.supervised import DpoMethod, SupervisedMethod
from app.domain.secrets.redaction import SecretValues
from app.preflight.definition_faults import Definition
from app.services.jobs.creation.creation_warnings import creation_warnings
from app.services.registry.definition_check import refuse_faults


@dataclass(frozen=True, slots=True)
class CheckedMethod:
    """A method without faults, as far as no look-up shows them."""

    definition: Definition
    uncalled: Collection[str]
    """The fields whose addresses and judges the job never calls."""
    stored: StoredMethod
    """The redacted document."""
    secrets: SecretValues
    warnings: list[str]


def checked_method(new: NewJob) -> CheckedMethod:
    """Raises `InvalidRequest` with the parameter of the first fault."""
    kind = new.method.kind
    definition = Definition.of(f"method.{kind}", new.method)
    uncalled = _refuse_method_faults(new.method, definition)
    refuse_faults([definition], elsewhere=parameters_of(kind, new.method), uncalled=uncalled)
    document: Json = {"type": kind, kind: new.method.model_dump(mode="json", exclude_none=False)}
    secrets = redact_method(document)
    return CheckedMethod(
        definition=definition,
        uncalled=uncalled,
        stored=stored_method(document),
        secrets=secrets,
        warnings=creation_warnings(new, definition.fields),
    )


def _refuse_method_faults(method: TuningMethod, definition: Definition) -> Collection[str]:
    """Raises the first fault of the method as a whole; returns the fields that are never called."""
    match method:
        case ReinforcementMethod():
            for fault in reinforcement_faults(method, definition.root, definition.fields):
                raise fault
            environment = built_in(method.environment)
            if environment is None or is_graded_by(environment, method.grader):
                return ()
            return ("environment",)
        case SupervisedMethod() | DpoMethod():
            return ()
        case _:
            assert_never(method)
