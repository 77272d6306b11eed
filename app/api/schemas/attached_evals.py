"""Attached evals of a job on the wire; an extension of this project."""

from typing import Annotated, Final

from pydantic import ConfigDict, StringConstraints, ValidationError

from app.api.schemas.evals import fault_of
from app.domain.documents.field_descriptions import DescribedModel
from app.domain.documents.json_object import Json
from app.domain.documents.walk import value_of
from app.domain.errors import refused_value
from app.domain.evals.data_source_faults import ROOT, data_source_faults
from app.domain.evals.data_sources import AttachedSource
from app.domain.faults.moved_faults import moved_fault
from app.domain.graders.definition_work import DefinitionWork
from app.domain.jobs.attached_evals import EVALS, AttachedEval

_TAGGED: Final = frozenset({"input_messages"})


class AttachedEvalBody(DescribedModel):
    """An eval of the project that is run on the start model and the tuned model."""

    model_config = ConfigDict(extra="allow")

    eval_id: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    """Id of the eval."""
    data_source: Json
    """As of an eval run of type `completions` or `responses`, with the items in a file and without
    `model`."""

    def to_attached(self, position: int, *, model: str) -> AttachedEval:
        """Raises `InvalidRequest` with the parameter at fault. `model` is the job's."""
        root = f"{EVALS}[{position}].{ROOT}"
        if "model" in self.data_source:
            raise refused_value(f"{root}.model", "the job's own models are sampled; leave it out")
        if value_of(self.data_source.get("source"), "type") == "file_content":
            raise refused_value(
                f"{root}.source.type",
                "the items must be in a file; upload it with purpose 'evals' and send "
                '{"type": "file_id", "id": "file-…"}',
            )
        try:
            source = AttachedSource.model_validate(self.data_source, context=DefinitionWork())
        except ValidationError as error:
            raise fault_of(error, root, tagged=_TAGGED) from error
        for fault in data_source_faults(source.with_model(model), ()):
            raise moved_fault(fault, ROOT, root)
        return AttachedEval(self.eval_id, self.data_source)


class AttachedEvalObject(DescribedModel):
    """An attached eval of a job, with its runs."""

    eval_id: str
    data_source: Json
    """As sent."""
    start_run_id: str | None
    """The run on the model that training started from; `null` before the job has succeeded."""
    tuned_run_id: str | None
    """The run on the tuned model; `null` before the job has succeeded."""
    error: str | None
    """The reason why a job that has succeeded started no run."""

    @classmethod
    def of(cls, attached: AttachedEval) -> "AttachedEvalObject":
        return cls(
            eval_id=attached.eval_id,
            data_source=attached.data_source,
            start_run_id=attached.start_run_id,
            tuned_run_id=attached.tuned_run_id,
            error=attached.error,
        )
