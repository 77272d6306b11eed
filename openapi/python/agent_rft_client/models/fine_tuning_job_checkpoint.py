from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.fine_tuning_job_checkpoint_metrics import FineTuningJobCheckpointMetrics





T = TypeVar("T", bound="FineTuningJobCheckpoint")



@_attrs_define
class FineTuningJobCheckpoint:
    """ A checkpoint of a job: a model that can be called, with its metrics.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['fine_tuning.job.checkpoint']): Type of the object; each type has one constant value. Default:
                'fine_tuning.job.checkpoint'.
            created_at (int): Unix seconds at which the object was made.
            fine_tuned_model_checkpoint (str): Name of the checkpoint's model, which chat, evals and new jobs take.
            fine_tuning_job_id (str): Id of the job.
            step_number (int): The committed step.
            metrics (FineTuningJobCheckpointMetrics): Values of the step, such as `full_valid_mean_reward`, by name; of the
                last step of a paused job that was not validated, only `step`.
     """

    id: str
    created_at: int
    fine_tuned_model_checkpoint: str
    fine_tuning_job_id: str
    step_number: int
    metrics: FineTuningJobCheckpointMetrics
    object_: Literal['fine_tuning.job.checkpoint'] = 'fine_tuning.job.checkpoint'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.fine_tuning_job_checkpoint_metrics import FineTuningJobCheckpointMetrics # noqa: PLC0415
        id = self.id

        object_ = self.object_

        created_at = self.created_at

        fine_tuned_model_checkpoint = self.fine_tuned_model_checkpoint

        fine_tuning_job_id = self.fine_tuning_job_id

        step_number = self.step_number

        metrics = self.metrics.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "created_at": created_at,
            "fine_tuned_model_checkpoint": fine_tuned_model_checkpoint,
            "fine_tuning_job_id": fine_tuning_job_id,
            "step_number": step_number,
            "metrics": metrics,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.fine_tuning_job_checkpoint_metrics import FineTuningJobCheckpointMetrics # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['fine_tuning.job.checkpoint'] , d.pop("object"))
        if object_ != 'fine_tuning.job.checkpoint':
            raise ValueError(f"object must match const 'fine_tuning.job.checkpoint', got '{object_}'")

        created_at = d.pop("created_at")

        fine_tuned_model_checkpoint = d.pop("fine_tuned_model_checkpoint")

        fine_tuning_job_id = d.pop("fine_tuning_job_id")

        step_number = d.pop("step_number")

        metrics = FineTuningJobCheckpointMetrics.from_dict(d.pop("metrics"))




        fine_tuning_job_checkpoint = cls(
            id=id,
            object_=object_,
            created_at=created_at,
            fine_tuned_model_checkpoint=fine_tuned_model_checkpoint,
            fine_tuning_job_id=fine_tuning_job_id,
            step_number=step_number,
            metrics=metrics,
        )


        fine_tuning_job_checkpoint.additional_properties = d
        return fine_tuning_job_checkpoint

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
