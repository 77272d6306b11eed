from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.coach_session_object import CoachSessionObject
  from ..models.fine_tuning_job import FineTuningJob
  from ..models.improvement_plan import ImprovementPlan





T = TypeVar("T", bound="StudentImprovement")



@_attrs_define
class StudentImprovement:
    """ A job or a Coach session that was started for a student, with the plan that its jobs are
    compiled from.

        Attributes:
            object_ (Literal['student.improvement']): Type of the object; each type has one constant value. Default:
                'student.improvement'.
            student (str): Name of the student. Propose the job as its skill when it has succeeded.
            job (FineTuningJob | None): The job; its `model` is the one that answered when it was created. `null` with
                `coach`.
            coach_session (CoachSessionObject | None): The session, which proposes skills itself; `null` without `coach`.
            plan (ImprovementPlan): A compiled plan; nothing is stored and no job is made.
     """

    student: str
    job: FineTuningJob | None
    coach_session: CoachSessionObject | None
    plan: ImprovementPlan
    object_: Literal['student.improvement'] = 'student.improvement'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.coach_session_object import CoachSessionObject # noqa: PLC0415
        from ..models.fine_tuning_job import FineTuningJob # noqa: PLC0415
        from ..models.improvement_plan import ImprovementPlan # noqa: PLC0415
        object_ = self.object_

        student = self.student

        job: dict[str, Any] | None
        if isinstance(self.job, FineTuningJob):
            job = self.job.to_dict()
        else:
            job = self.job

        coach_session: dict[str, Any] | None
        if isinstance(self.coach_session, CoachSessionObject):
            coach_session = self.coach_session.to_dict()
        else:
            coach_session = self.coach_session

        plan = self.plan.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "student": student,
            "job": job,
            "coach_session": coach_session,
            "plan": plan,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.coach_session_object import CoachSessionObject # noqa: PLC0415
        from ..models.fine_tuning_job import FineTuningJob # noqa: PLC0415
        from ..models.improvement_plan import ImprovementPlan # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['student.improvement'] , d.pop("object"))
        if object_ != 'student.improvement':
            raise ValueError(f"object must match const 'student.improvement', got '{object_}'")

        student = d.pop("student")

        def _parse_job(data: object) -> FineTuningJob | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                job_type_0 = FineTuningJob.from_dict(data)



                return job_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FineTuningJob | None, data)

        job = _parse_job(d.pop("job"))


        def _parse_coach_session(data: object) -> CoachSessionObject | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                coach_session_type_0 = CoachSessionObject.from_dict(data)



                return coach_session_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CoachSessionObject | None, data)

        coach_session = _parse_coach_session(d.pop("coach_session"))


        plan = ImprovementPlan.from_dict(d.pop("plan"))




        student_improvement = cls(
            object_=object_,
            student=student,
            job=job,
            coach_session=coach_session,
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
