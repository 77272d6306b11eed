from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.job_status import check_job_status
from ..models.job_status import JobStatus
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.attached_eval_object import AttachedEvalObject
  from ..models.fine_tuning_job_ended_early_type_0 import FineTuningJobEndedEarlyType0
  from ..models.fine_tuning_job_error_type_1 import FineTuningJobErrorType1
  from ..models.fine_tuning_job_hyperparameters_type_0 import FineTuningJobHyperparametersType0
  from ..models.fine_tuning_job_integrations_item import FineTuningJobIntegrationsItem
  from ..models.fine_tuning_job_metadata_type_0 import FineTuningJobMetadataType0
  from ..models.fine_tuning_job_method import FineTuningJobMethod
  from ..models.job_error_body import JobErrorBody
  from ..models.reproducibility import Reproducibility
  from ..models.usage_metrics import UsageMetrics





T = TypeVar("T", bound="FineTuningJob")



@_attrs_define
class FineTuningJob:
    """ A fine-tuning job; every key is always present.

        Attributes:
            id (str): Id of the job.
            object_ (Literal['fine_tuning.job']): Type of the object; each type has one constant value. Default:
                'fine_tuning.job'.
            created_at (int): Unix seconds at which the object was made.
            model (str): The base model, with its version, or the tuned model that the job starts from.
            fine_tuned_model (None | str): Name of the published model, once the job has succeeded.
            finished_at (int | None): Unix seconds of the job's end.
            organization_id (str): Id of the organization.
            result_files (list[str]): Ids of files with the points of all curves, once the job has ended.
            status (JobStatus): State of a job; `succeeded`, `failed` and `cancelled` are final.
            trained_tokens (int | None): Tokens with a weight in the loss so far; `null` before the first step.
            training_file (str): Id of the file with the training rows.
            validation_file (None | str): Id of the file with the held-out rows.
            hyperparameters (FineTuningJobHyperparametersType0 | None): Hyperparameters of a supervised job; `null` for
                others.
            seed (int): Seed of sampling and training.
            error (FineTuningJobErrorType1 | JobErrorBody): Code, message and parameter of a job that failed; else empty.
            estimated_finish (int | None): Unix seconds at which a running job should end.
            integrations (list[FineTuningJobIntegrationsItem]): As sent.
            evals (list[AttachedEvalObject]): Attached evals, with their runs once the job has succeeded (an extension).
            method (FineTuningJobMethod): Method with every default and, once the files are validated, every `auto`
                replaced.
            metadata (FineTuningJobMetadataType0 | None): Up to 16 pairs of text of the user's own; the service does not
                read them.
            user_provided_suffix (None | str): The suffix of the create call.
            usage_metrics (None | UsageMetrics): Time, rollouts, tokens and cost so far; `null` before the first step.
            shared_with_openai (bool): Always false. Default: False.
            step (int): Last committed step (an extension).
            eval_id (None | str): The eval whose runs are the job's validations.
            total_steps (int | None): Number of steps, known once the files are validated (an extension).
            ended_early (FineTuningJobEndedEarlyType0 | None): `{rule, action, step, reason}` of the rule that ended the job
                early (an extension).
            reproducibility (None | Reproducibility): True if the job is the same to the bit, with reasons and processors;
                known once a worker has begun (an extension).
            max_training_time_s (float | None): Cap (an extension): the job pauses at the step that reaches it.
            max_rollouts (int | None): Cap (an extension): the job pauses at the step that reaches it.
            priority (int): Jobs of the project with a higher priority start first (an extension).
            queue_position (int | None): Position in the queue of jobs that wait for a worker; 1 is next (an extension).
            estimated_start (int | None): Unix seconds at which a worker should be free, if running jobs have an estimate.
     """

    id: str
    created_at: int
    model: str
    fine_tuned_model: None | str
    finished_at: int | None
    organization_id: str
    result_files: list[str]
    status: JobStatus
    trained_tokens: int | None
    training_file: str
    validation_file: None | str
    hyperparameters: FineTuningJobHyperparametersType0 | None
    seed: int
    error: FineTuningJobErrorType1 | JobErrorBody
    estimated_finish: int | None
    integrations: list[FineTuningJobIntegrationsItem]
    evals: list[AttachedEvalObject]
    method: FineTuningJobMethod
    metadata: FineTuningJobMetadataType0 | None
    user_provided_suffix: None | str
    usage_metrics: None | UsageMetrics
    step: int
    eval_id: None | str
    total_steps: int | None
    ended_early: FineTuningJobEndedEarlyType0 | None
    reproducibility: None | Reproducibility
    max_training_time_s: float | None
    max_rollouts: int | None
    priority: int
    queue_position: int | None
    estimated_start: int | None
    object_: Literal['fine_tuning.job'] = 'fine_tuning.job'
    shared_with_openai: bool = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.attached_eval_object import AttachedEvalObject # noqa: PLC0415
        from ..models.fine_tuning_job_ended_early_type_0 import FineTuningJobEndedEarlyType0 # noqa: PLC0415
        from ..models.fine_tuning_job_error_type_1 import FineTuningJobErrorType1 # noqa: PLC0415
        from ..models.fine_tuning_job_hyperparameters_type_0 import FineTuningJobHyperparametersType0 # noqa: PLC0415
        from ..models.fine_tuning_job_integrations_item import FineTuningJobIntegrationsItem # noqa: PLC0415
        from ..models.fine_tuning_job_metadata_type_0 import FineTuningJobMetadataType0 # noqa: PLC0415
        from ..models.fine_tuning_job_method import FineTuningJobMethod # noqa: PLC0415
        from ..models.job_error_body import JobErrorBody # noqa: PLC0415
        from ..models.reproducibility import Reproducibility # noqa: PLC0415
        from ..models.usage_metrics import UsageMetrics # noqa: PLC0415
        id = self.id

        object_ = self.object_

        created_at = self.created_at

        model = self.model

        fine_tuned_model: None | str
        fine_tuned_model = self.fine_tuned_model

        finished_at: int | None
        finished_at = self.finished_at

        organization_id = self.organization_id

        result_files = self.result_files



        status: str = self.status

        trained_tokens: int | None
        trained_tokens = self.trained_tokens

        training_file = self.training_file

        validation_file: None | str
        validation_file = self.validation_file

        hyperparameters: dict[str, Any] | None
        if isinstance(self.hyperparameters, FineTuningJobHyperparametersType0):
            hyperparameters = self.hyperparameters.to_dict()
        else:
            hyperparameters = self.hyperparameters

        seed = self.seed

        error: dict[str, Any]
        if isinstance(self.error, JobErrorBody):
            error = self.error.to_dict()
        else:
            error = self.error.to_dict()


        estimated_finish: int | None
        estimated_finish = self.estimated_finish

        integrations = []
        for integrations_item_data in self.integrations:
            integrations_item = integrations_item_data.to_dict()
            integrations.append(integrations_item)



        evals = []
        for evals_item_data in self.evals:
            evals_item = evals_item_data.to_dict()
            evals.append(evals_item)



        method = self.method.to_dict()

        metadata: dict[str, Any] | None
        if isinstance(self.metadata, FineTuningJobMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        user_provided_suffix: None | str
        user_provided_suffix = self.user_provided_suffix

        usage_metrics: dict[str, Any] | None
        if isinstance(self.usage_metrics, UsageMetrics):
            usage_metrics = self.usage_metrics.to_dict()
        else:
            usage_metrics = self.usage_metrics

        shared_with_openai = self.shared_with_openai

        step = self.step

        eval_id: None | str
        eval_id = self.eval_id

        total_steps: int | None
        total_steps = self.total_steps

        ended_early: dict[str, Any] | None
        if isinstance(self.ended_early, FineTuningJobEndedEarlyType0):
            ended_early = self.ended_early.to_dict()
        else:
            ended_early = self.ended_early

        reproducibility: dict[str, Any] | None
        if isinstance(self.reproducibility, Reproducibility):
            reproducibility = self.reproducibility.to_dict()
        else:
            reproducibility = self.reproducibility

        max_training_time_s: float | None
        max_training_time_s = self.max_training_time_s

        max_rollouts: int | None
        max_rollouts = self.max_rollouts

        priority = self.priority

        queue_position: int | None
        queue_position = self.queue_position

        estimated_start: int | None
        estimated_start = self.estimated_start


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "created_at": created_at,
            "model": model,
            "fine_tuned_model": fine_tuned_model,
            "finished_at": finished_at,
            "organization_id": organization_id,
            "result_files": result_files,
            "status": status,
            "trained_tokens": trained_tokens,
            "training_file": training_file,
            "validation_file": validation_file,
            "hyperparameters": hyperparameters,
            "seed": seed,
            "error": error,
            "estimated_finish": estimated_finish,
            "integrations": integrations,
            "evals": evals,
            "method": method,
            "metadata": metadata,
            "user_provided_suffix": user_provided_suffix,
            "usage_metrics": usage_metrics,
            "shared_with_openai": shared_with_openai,
            "step": step,
            "eval_id": eval_id,
            "total_steps": total_steps,
            "ended_early": ended_early,
            "reproducibility": reproducibility,
            "max_training_time_s": max_training_time_s,
            "max_rollouts": max_rollouts,
            "priority": priority,
            "queue_position": queue_position,
            "estimated_start": estimated_start,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.attached_eval_object import AttachedEvalObject # noqa: PLC0415
        from ..models.fine_tuning_job_ended_early_type_0 import FineTuningJobEndedEarlyType0 # noqa: PLC0415
        from ..models.fine_tuning_job_error_type_1 import FineTuningJobErrorType1 # noqa: PLC0415
        from ..models.fine_tuning_job_hyperparameters_type_0 import FineTuningJobHyperparametersType0 # noqa: PLC0415
        from ..models.fine_tuning_job_integrations_item import FineTuningJobIntegrationsItem # noqa: PLC0415
        from ..models.fine_tuning_job_metadata_type_0 import FineTuningJobMetadataType0 # noqa: PLC0415
        from ..models.fine_tuning_job_method import FineTuningJobMethod # noqa: PLC0415
        from ..models.job_error_body import JobErrorBody # noqa: PLC0415
        from ..models.reproducibility import Reproducibility # noqa: PLC0415
        from ..models.usage_metrics import UsageMetrics # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['fine_tuning.job'] , d.pop("object"))
        if object_ != 'fine_tuning.job':
            raise ValueError(f"object must match const 'fine_tuning.job', got '{object_}'")

        created_at = d.pop("created_at")

        model = d.pop("model")

        def _parse_fine_tuned_model(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        fine_tuned_model = _parse_fine_tuned_model(d.pop("fine_tuned_model"))


        def _parse_finished_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        finished_at = _parse_finished_at(d.pop("finished_at"))


        organization_id = d.pop("organization_id")

        result_files = cast(list[str], d.pop("result_files"))


        status = check_job_status(d.pop("status"))




        def _parse_trained_tokens(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        trained_tokens = _parse_trained_tokens(d.pop("trained_tokens"))


        training_file = d.pop("training_file")

        def _parse_validation_file(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        validation_file = _parse_validation_file(d.pop("validation_file"))


        def _parse_hyperparameters(data: object) -> FineTuningJobHyperparametersType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                hyperparameters_type_0 = FineTuningJobHyperparametersType0.from_dict(data)



                return hyperparameters_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FineTuningJobHyperparametersType0 | None, data)

        hyperparameters = _parse_hyperparameters(d.pop("hyperparameters"))


        seed = d.pop("seed")

        def _parse_error(data: object) -> FineTuningJobErrorType1 | JobErrorBody:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = JobErrorBody.from_dict(data)



                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            error_type_1 = FineTuningJobErrorType1.from_dict(data)



            return error_type_1

        error = _parse_error(d.pop("error"))


        def _parse_estimated_finish(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        estimated_finish = _parse_estimated_finish(d.pop("estimated_finish"))


        integrations = []
        _integrations = d.pop("integrations")
        for integrations_item_data in (_integrations):
            integrations_item = FineTuningJobIntegrationsItem.from_dict(integrations_item_data)



            integrations.append(integrations_item)


        evals = []
        _evals = d.pop("evals")
        for evals_item_data in (_evals):
            evals_item = AttachedEvalObject.from_dict(evals_item_data)



            evals.append(evals_item)


        method = FineTuningJobMethod.from_dict(d.pop("method"))




        def _parse_metadata(data: object) -> FineTuningJobMetadataType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = FineTuningJobMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FineTuningJobMetadataType0 | None, data)

        metadata = _parse_metadata(d.pop("metadata"))


        def _parse_user_provided_suffix(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        user_provided_suffix = _parse_user_provided_suffix(d.pop("user_provided_suffix"))


        def _parse_usage_metrics(data: object) -> None | UsageMetrics:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                usage_metrics_type_0 = UsageMetrics.from_dict(data)



                return usage_metrics_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | UsageMetrics, data)

        usage_metrics = _parse_usage_metrics(d.pop("usage_metrics"))


        shared_with_openai = d.pop("shared_with_openai")

        step = d.pop("step")

        def _parse_eval_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        eval_id = _parse_eval_id(d.pop("eval_id"))


        def _parse_total_steps(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        total_steps = _parse_total_steps(d.pop("total_steps"))


        def _parse_ended_early(data: object) -> FineTuningJobEndedEarlyType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                ended_early_type_0 = FineTuningJobEndedEarlyType0.from_dict(data)



                return ended_early_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FineTuningJobEndedEarlyType0 | None, data)

        ended_early = _parse_ended_early(d.pop("ended_early"))


        def _parse_reproducibility(data: object) -> None | Reproducibility:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                reproducibility_type_0 = Reproducibility.from_dict(data)



                return reproducibility_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Reproducibility, data)

        reproducibility = _parse_reproducibility(d.pop("reproducibility"))


        def _parse_max_training_time_s(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        max_training_time_s = _parse_max_training_time_s(d.pop("max_training_time_s"))


        def _parse_max_rollouts(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_rollouts = _parse_max_rollouts(d.pop("max_rollouts"))


        priority = d.pop("priority")

        def _parse_queue_position(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        queue_position = _parse_queue_position(d.pop("queue_position"))


        def _parse_estimated_start(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        estimated_start = _parse_estimated_start(d.pop("estimated_start"))


        fine_tuning_job = cls(
            id=id,
            object_=object_,
            created_at=created_at,
            model=model,
            fine_tuned_model=fine_tuned_model,
            finished_at=finished_at,
            organization_id=organization_id,
            result_files=result_files,
            status=status,
            trained_tokens=trained_tokens,
            training_file=training_file,
            validation_file=validation_file,
            hyperparameters=hyperparameters,
            seed=seed,
            error=error,
            estimated_finish=estimated_finish,
            integrations=integrations,
            evals=evals,
            method=method,
            metadata=metadata,
            user_provided_suffix=user_provided_suffix,
            usage_metrics=usage_metrics,
            shared_with_openai=shared_with_openai,
            step=step,
            eval_id=eval_id,
            total_steps=total_steps,
            ended_early=ended_early,
            reproducibility=reproducibility,
            max_training_time_s=max_training_time_s,
            max_rollouts=max_rollouts,
            priority=priority,
            queue_position=queue_position,
            estimated_start=estimated_start,
        )


        fine_tuning_job.additional_properties = d
        return fine_tuning_job

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
