from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.fine_tuning_job import FineTuningJob
  from ..models.improvement_plan import ImprovementPlan





T = TypeVar("T", bound="StudentImprovement")



@_attrs_define
class StudentImprovement:
    """ A job that was started for a student, with the plan that it was compiled from.

        Attributes:
            object_ (Literal['student.improvement']): Type of the object; each type has one constant value. Default:
                'student.improvement'.
            student (str): Name of the student. Propose the job as its skill when it has succeeded.
            job (FineTuningJob): A fine-tuning job; every key is always present.
            plan (ImprovementPlan): A compiled plan; nothing is stored and no job is made.
     """

    student: str
    job: FineTuningJob
    plan: ImprovementPlan
    object_: Literal['student.improvement'] = 'student.improvement'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.fine_tuning_job import FineTuningJob # noqa: PLC0415
        from ..models.improvement_plan import ImprovementPlan # noqa: PLC0415
        object_ = self.object_

        student = self.student

        job = self.job.to_dict()

        plan = self.plan.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "student": student,
            "job": job,
            "plan": plan,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.fine_tuning_job import FineTuningJob # noqa: PLC0415
        from ..models.improvement_plan import ImprovementPlan # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['student.improvement'] , d.pop("object"))
        if object_ != 'student.improvement':
            raise ValueError(f"object must match const 'student.improvement', got '{object_}'")

        student = d.pop("student")

        job = FineTuningJob.from_dict(d.pop("job"))




        plan = ImprovementPlan.from_dict(d.pop("plan"))




        student_improvement = cls(
            object_=object_,
            student=student,
            job=job,
            plan=plan,
        )


        student_improvement.additional_properties = d
        return student_improvement

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
