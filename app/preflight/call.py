"""Inspects the body of a create call without a database: its model, its cost, and the
request to inspect its files.

Accepts bodies that fail validation, so that one report can contain every fault.
"""

from pathlib import Path
from typing import Any, assert_never

from app.domain.faults.issues import PreflightIssue
from app.domain.faults.no_effect import NoEffect
from app.domain.jobs.creation.preflight import DatasetReport, Estimate, InspectionRequest
from app.domain.jobs.creation.requests import JobRequest
from app.domain.jobs.creation.row_needs import NO_NEEDS, row_needs
from app.domain.methods.ineffective_options import without_calls
from app.domain.methods.method_documents import StoredMethod
from app.domain.methods.reinforcement import (
    ReinforcementHyperparameters,
    ReinforcementMethod,
    resolve_hyperparameters,
)
from app.domain.methods.supervised import DpoMethod, SupervisedMethod
from app.domain.models.models import BaseModelSpec, base_of, unknown_model
from app.domain.students.students import student_named, unknown_student
from app.preflight.estimate import Pace, estimate
from app.preflight.method_parts import (
    ROOT,
    batch_size,
    beyond_context,
    is_http,
    job_tools,
    method_of,
    method_type,
    no_room_share,
    reads_difficulty,
    reasoning_effort,
    reinforcement_hyperparameters,
    reinforcement_of,
    train_on,
)


def base_model(
    body: dict[str, Any], base_models: tuple[BaseModelSpec, ...], issues: list[PreflightIssue]
) -> BaseModelSpec | None:
    """Returns the base model of the call, or the base of the tuned model that it names. An unknown
    name adds an issue.
    """
    name = body.get("model")
    if not isinstance(name, str):
        return None
    base = base_of(base_models, name)
    if base is None:
        student = student_named(name)
        message = unknown_student(student) if student else unknown_model(name, base_models)
        issues.append(PreflightIssue("error", "model_not_available", message, "model"))
    return base


def estimate_of(
    new: JobRequest | None,
    base: BaseModelSpec | None,
    dataset: DatasetReport | None,
    *,
    pace: Pace | None,
    knows_jobs: bool = True,
) -> Estimate | None:
    """Estimates the cost; `None` if the call or its dataset is unusable, or for other methods.
    `knows_jobs` is false where no service knows the pace of a project's jobs.
    """
    if base is None or dataset is None or dataset.training is None or not dataset.training.rows:
        return None
    match None if new is None else new.method:
        case ReinforcementMethod() as method:
            hyper = resolve_hyperparameters(
                method, train_rows=dataset.training.rows, base_model=base
            )
            return estimate(
                hyper,
                dataset,
                context_length=base.context_length,
                pace=pace,
                tokens_per_s=base.tokens_per_s,
                knows_jobs=knows_jobs,
            )
        case SupervisedMethod() | DpoMethod() | None:
            return None
        case method:
            assert_never(method)


def inspection_of_job(
    method: StoredMethod,
    base: BaseModelSpec | None,
    *,
    training: Path | None,
    validation: Path | None,
    shared_tools: tuple[dict[str, Any], ...] = (),
) -> InspectionRequest:
    """Returns the request to inspect the files of a job that exists."""
    return inspection_request(
        {"method": method.document},
        base,
        training=training,
        validation=validation,
        shared_tools=shared_tools,
    )


def inspection_request(
    body: dict[str, Any],
    base: BaseModelSpec | None,
    *,
    training: Path | None,
    validation: Path | None,
    sample_rows: int = 0,
    shared_tools: tuple[dict[str, Any], ...] = (),
) -> InspectionRequest:
    """Returns the request to inspect the files of a call, with all settings that affect it."""
    method, kind = method_of(body), method_type(body)
    needs = NO_NEEDS
    unused: tuple[NoEffect, ...] = ()
    played = False
    beyond: tuple[NoEffect, ...] = ()
    numbers: ReinforcementHyperparameters | None = None
    full: float | None = None
    by_difficulty = False
    match kind:
        case "reinforcement":
            by_difficulty = reads_difficulty(method)
            needs = row_needs(method.get(kind), ROOT)
            played = is_http(reinforcement_of(method))
            unused = () if played else tuple(without_calls(method.get(kind), ROOT))
            full = no_room_share(method)
            inner = reinforcement_of(method)
            numbers = reinforcement_hyperparameters(inner)
            if base is not None:
                beyond = tuple(beyond_context(inner, base.context_length))
        case "supervised" | "dpo":
            pass
        case _:
            assert_never(kind)
    return InspectionRequest(
        method=kind,
        training=training,
        validation=validation,
        job_tools=job_tools(method),
        calls_answered=played,
        base_model=base,
        reasoning_effort=reasoning_effort(method),
        train_on=train_on(method),
        needs=needs,
        batch_size=batch_size(body),
        without_calls=unused,
        on_base_model=beyond,
        hyperparameters=numbers,
        no_room_share=full,
        sample_rows=sample_rows,
        shared_tools=shared_tools,
        reads_difficulty=by_difficulty,
        names_method=body.get("method") is not None,
    )
