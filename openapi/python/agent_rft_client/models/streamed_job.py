from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.job_status import check_job_status
from ..models.job_status import JobStatus
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.job_error_body import JobErrorBody





T = TypeVar("T", bound="StreamedJob")



@_attrs_define
class StreamedJob:
    """ The state of the job after the events that were sent: the message `job`, without an id.

        Attributes:
            id (str): Id of the job.
            status (JobStatus): State of a job; `succeeded`, `failed` and `cancelled` are final.
            step (int): Last committed step; 0 before the first.
            total_steps (int | None): Steps of the whole job; `null` until its files are validated.
            estimated_finish (int | None): Unix seconds at which the job should end.
            finished_at (int | None): Unix seconds of the end.
            fine_tuned_model (None | str): Name of the published model.
            error (JobErrorBody | None): The reason of a failed job.
            object_ (Literal['fine_tuning.job.state'] | Unset): Type of the object; each type has one constant value.
                Default: 'fine_tuning.job.state'.
     """

    id: str
    status: JobStatus
    step: int
    total_steps: int | None
    estimated_finish: int | None
    finished_at: int | None
    fine_tuned_model: None | str
    error: JobErrorBody | None
    object_: Literal['fine_tuning.job.state'] | Unset = 'fine_tuning.job.state'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.job_error_body import JobErrorBody # noqa: PLC0415
        id = self.id

        status: str = self.status

        step = self.step

        total_steps: int | None
        total_steps = self.total_steps

        estimated_finish: int | None
        estimated_finish = self.estimated_finish

        finished_at: int | None
        finished_at = self.finished_at

        fine_tuned_model: None | str
        fine_tuned_model = self.fine_tuned_model

        error: dict[str, Any] | None
        if isinstance(self.error, JobErrorBody):
            error = self.error.to_dict()
        else:
            error = self.error

        object_ = self.object_


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "status": status,
            "step": step,
            "total_steps": total_steps,
            "estimated_finish": estimated_finish,
            "finished_at": finished_at,
            "fine_tuned_model": fine_tuned_model,
            "error": error,
        })
        if object_ is not UNSET:
            field_dict["object"] = object_

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.job_error_body import JobErrorBody # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        status = check_job_status(d.pop("status"))




        step = d.pop("step")

        def _parse_total_steps(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        total_steps = _parse_total_steps(d.pop("total_steps"))


        def _parse_estimated_finish(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        estimated_finish = _parse_estimated_finish(d.pop("estimated_finish"))


        def _parse_finished_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        finished_at = _parse_finished_at(d.pop("finished_at"))


        def _parse_fine_tuned_model(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        fine_tuned_model = _parse_fine_tuned_model(d.pop("fine_tuned_model"))


        def _parse_error(data: object) -> JobErrorBody | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = JobErrorBody.from_dict(data)



                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(JobErrorBody | None, data)

        error = _parse_error(d.pop("error"))


        object_ = cast(Literal['fine_tuning.job.state'] | Unset , d.pop("object", UNSET))
        if object_ != 'fine_tuning.job.state'and not isinstance(object_, Unset):
            raise ValueError(f"object must match const 'fine_tuning.job.state', got '{object_}'")

        streamed_job = cls(
            id=id,
            status=status,
            step=step,
            total_steps=total_steps,
            estimated_finish=estimated_finish,
            finished_at=finished_at,
            fine_tuned_model=fine_tuned_model,
            error=error,
            object_=object_,
        )


        streamed_job.additional_properties = d
        return streamed_job

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
