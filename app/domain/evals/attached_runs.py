"""Makes the runs of an eval that is attached to a job: one samples the model that training started
from, the other the tuned model. Pure.
"""

from typing import Literal

from app.domain.evals.data_sources import AttachedSource
from app.domain.evals.evals import EvalRun, EvalRunStatus
from app.domain.ids import new_id
from app.domain.jobs.attached_evals import AttachedEval


def file_of(attached: AttachedEval) -> str:
    """Returns the id of the file with the items."""
    return AttachedSource.model_validate(attached.data_source).source.id


def attached_run(
    attached: AttachedEval, job_id: str, *, model: str, side: Literal["start", "tuned"]
) -> EvalRun:
    """Returns a new run that samples `model`. The data source is not checked again: a release that
    refuses it fails the run, and not the job whose end starts it.
    """
    return EvalRun(
        id=new_id("evalrun_"),
        eval_id=attached.eval_id,
        name=f"{job_id}: {side}",
        status=EvalRunStatus.QUEUED,
        model=model,
        data_source={**attached.data_source, "model": model},
        metadata={"job_id": job_id, "model": side},
    )
