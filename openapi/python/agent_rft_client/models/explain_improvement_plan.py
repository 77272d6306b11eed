from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.explain_improvement_plan_job_type_0 import ExplainImprovementPlanJobType0





T = TypeVar("T", bound="ExplainImprovementPlan")



@_attrs_define
class ExplainImprovementPlan:
    """ The job to read: the body of a create call, or the id of a job.

        Attributes:
            job (ExplainImprovementPlanJobType0 | None | Unset): Body of `POST /v1/fine_tuning/jobs`.
            job_id (None | str | Unset): Id of one of the project's jobs.
     """

    job: ExplainImprovementPlanJobType0 | None | Unset = UNSET
    job_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.explain_improvement_plan_job_type_0 import ExplainImprovementPlanJobType0 # noqa: PLC0415
        job: dict[str, Any] | None | Unset
        if isinstance(self.job, Unset):
            job = UNSET
        elif isinstance(self.job, ExplainImprovementPlanJobType0):
            job = self.job.to_dict()
        else:
            job = self.job

        job_id: None | str | Unset
        if isinstance(self.job_id, Unset):
            job_id = UNSET
        else:
            job_id = self.job_id


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if job is not UNSET:
            field_dict["job"] = job
        if job_id is not UNSET:
            field_dict["job_id"] = job_id

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.explain_improvement_plan_job_type_0 import ExplainImprovementPlanJobType0 # noqa: PLC0415
        d = dict(src_dict)
        def _parse_job(data: object) -> ExplainImprovementPlanJobType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                job_type_0 = ExplainImprovementPlanJobType0.from_dict(data)



                return job_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ExplainImprovementPlanJobType0 | None | Unset, data)

        job = _parse_job(d.pop("job", UNSET))


        def _parse_job_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        job_id = _parse_job_id(d.pop("job_id", UNSET))


        explain_improvement_plan = cls(
            job=job,
            job_id=job_id,
        )


        explain_improvement_plan.additional_properties = d
        return explain_improvement_plan

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
