"""A compiled plan as the request of a job. Pure."""

from typing import Any, assert_never

from app.domain.jobs.creation.requests import JobRequest, RequestedMethod
from app.domain.methods.supervised import DpoMethod, MethodType, SupervisedMethod
from app.domain.plans.plan import CompiledPlan
from app.domain.registry.references import ReinforcementBody, read_curriculum


def job_request(plan: CompiledPlan) -> JobRequest:
    """Returns the create call that the body of a plan stands for. The recipes' schema and the
    knobs have checked its method.
    """
    job = plan.job
    curriculum = job.get("curriculum")
    request = JobRequest(
        model=job["model"],
        training_file=job.get("training_file"),
        validation_file=job.get("validation_file"),
        curriculum=None if curriculum is None else read_curriculum(curriculum),
        method=_method(job["method"]["type"], job["method"]),
        seed=job.get("seed"),
        suffix=job.get("suffix"),
        metadata=job.get("metadata"),
    )
    request.check_files()
    return request


def _method(kind: MethodType, sent: dict[str, Any]) -> RequestedMethod:
    match kind:
        case "reinforcement":
            return ReinforcementBody.model_validate(sent[kind])
        case "supervised":
            return SupervisedMethod.model_validate(sent[kind])
        case "dpo":
            return DpoMethod.model_validate(sent[kind])
        case _:
            assert_never(kind)
