"""Checks the evals that a create call attaches to its job."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from app.database import Database, UnitOfWork
from app.evals.data_source_faults import ROOT
from app.evals.data_sources import MAX_ITEMS
from app.evals.job_runs import file_of
from app.evals.service import check_item_file
from app.jobs.definition_checks import Definition
from app.jobs.integrations import (
    INTEGRATIONS,
    LIBRARIES,
    integration_faults,
    is_installed,
    is_local,
    local_directory,
    read_integration,
    trackers_of,
)
from app.jobs.jobs import EVALS, AttachedEval, Job, NewJob, TuningMethod
from app.jobs.method_faults import format_warning, reinforcement_faults
from app.jobs.methods import StoredMethod, parameters_of, stored_method
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.reproducibility import redact_method
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.jobs.warnings import call_warnings, suffix_warnings
from app.kit.callers import Tenant
from app.kit.egress import Egress
from app.kit.errors import InvalidRequest, NoEffect, NotFound, refused_value
from app.kit.faults import unread, unread_message
from app.kit.fields import Json, WalkedField
from app.kit.redaction import SecretValues
from app.models.service import JudgeModels
from app.tools.definition_check import check_definitions, refuse_faults
from app.tools.environments import built_in, is_graded_by

_RUNS: Final = 2
"""Runs of each attached eval: on the start model and on the tuned one."""


async def check_attached_evals(
    database: Database, tenant: Tenant, attached: list[AttachedEval]
) -> None:
    """Raises `InvalidRequest` for an eval or a file that the project lacks."""
    if not attached:
        return
    async with database.tenant(tenant) as unit:
        for position, each in enumerate(attached):
            await _check(unit, f"{EVALS}[{position}]", each)


async def check_quota(database: Database, tenant: Tenant, attached: list[AttachedEval]) -> None:
    """Raises `QuotaExceeded` if the runs are too many already now. The job's end starts them
    without a second check.
    """
    if not attached:
        return
    async with database.tenant(tenant) as unit:
        await unit.quotas.check_eval_run(MAX_ITEMS * _RUNS * len(attached))


async def _check(unit: UnitOfWork, root: str, attached: AttachedEval) -> None:
    try:
        of = await unit.evals.get(attached.eval_id)
    except NotFound as error:
        raise InvalidRequest(
            error.message, param=f"{root}.eval_id", code="eval_not_found"
        ) from error
    if of.job_id is not None:
        raise refused_value(
            f"{root}.eval_id",
            f"the runs of {of.id} are the validations of job {of.job_id}; attach an eval of your "
            "own",
        )
    await check_item_file(unit, file_of(attached), f"{root}.{ROOT}.source.id")


def creation_warnings(new: NewJob, walked: Sequence[WalkedField]) -> list[str]:
    """Returns one message for each kind of warning; `walked` are the fields of the method."""
    kind = new.method.kind
    keys = [*new.unread, *unread(walked, f"method.{kind}", parameters_of(kind, new.method))]
    found = [
        unread_message(keys) if keys else None,
        _format_warning(new.method),
        *(each.message for each in _of_call(new)),
        None if new.grader_choice is None else new.grader_choice.warning,
    ]
    return [message for message in found if message is not None]


def _of_call(new: NewJob) -> Iterator[NoEffect]:
    yield from new.overridden
    yield from suffix_warnings(new.suffix)
    yield from call_warnings(
        new.method,
        has_validation=new.validation_file is not None,
        has_rollout_cap=new.caps.max_rollouts is not None,
    )


def _format_warning(method: TuningMethod) -> str | None:
    match method:
        case ReinforcementMethod():
            return format_warning(method)
        case SupervisedMethod() | DpoMethod():
            return None
        case _:
            assert_never(method)


async def check_integrations(
    integrations: list[Json], *, egress: Egress, models: JudgeModels
) -> None:
    """Raises `InvalidRequest` for an integration that this installation cannot write."""
    for fault in integration_faults(integrations):
        raise fault
    _check_libraries(integrations)
    sent = [
        (f"{INTEGRATIONS}[{position}]", read_integration(one))
        for position, one in enumerate(integrations)
    ]
    if sent:
        await check_definitions(sent, egress=egress, models=models)


def integration_notices(job: Job) -> list[str]:
    """Returns a message for each integration that is written to the installation's directory."""
    return [
        f"Writing curves for {LIBRARIES[kind].title} to "
        f"{local_directory(kind, position, project_id=job.project_id, job_id=job.id)} in the "
        "installation's directory of trackers"
        for position, kind in trackers_of(job.integrations)
        if is_local(job.integrations[position])
    ]


def _check_libraries(integrations: list[Json]) -> None:
    for position, kind in trackers_of(integrations):
        library = LIBRARIES[kind]
        if not is_installed(kind):
            raise InvalidRequest(
                f"This installation lacks the library of {library.title}. Its operator installs it "
                f"for API and workers: pip install 'agent-rft[{kind}]'",
                param=f"{INTEGRATIONS}[{position}].type",
                code="integration_not_installed",
            )


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
