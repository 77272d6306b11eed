from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.skill_status import check_skill_status
from ..models.skill_status import SkillStatus
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.gate_runs import GateRuns
  from ..models.skill_comparison import SkillComparison





T = TypeVar("T", bound="SkillObject")



@_attrs_define
class SkillObject:
    """ A skill: the model of a job that was proposed to a student, and the gate's decision.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['student.skill']): Type of the object; each type has one constant value. Default:
                'student.skill'.
            student (str): Name of the student that it was proposed to.
            job_id (str): The job that trained it.
            model (str): Name of the tuned model, which can be called by this name as well.
            baseline (str): Name of the model that answered for the student when the skill was proposed.
            status (SkillStatus): State of a skill at the gate; the last two are final.
            reason (None | str): The gate's decision in sentences with numbers; `null` while it runs.
            runs (list[GateRuns]): Eval runs of the gate, one pair for each regression eval.
            comparisons (list[SkillComparison]): Results of the gate: the target, then each regression eval; empty while it
                runs.
            promoted_at (int | None): Time at which it last became current; `null` if it never was.
            created_at (int): Unix seconds at which the object was made.
     """

    id: str
    student: str
    job_id: str
    model: str
    baseline: str
    status: SkillStatus
    reason: None | str
    runs: list[GateRuns]
    comparisons: list[SkillComparison]
    promoted_at: int | None
    created_at: int
    object_: Literal['student.skill'] = 'student.skill'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.gate_runs import GateRuns # noqa: PLC0415
        from ..models.skill_comparison import SkillComparison # noqa: PLC0415
        id = self.id

        object_ = self.object_

        student = self.student

        job_id = self.job_id

        model = self.model

        baseline = self.baseline

        status: str = self.status

        reason: None | str
        reason = self.reason

        runs = []
        for runs_item_data in self.runs:
            runs_item = runs_item_data.to_dict()
            runs.append(runs_item)



        comparisons = []
        for comparisons_item_data in self.comparisons:
            comparisons_item = comparisons_item_data.to_dict()
            comparisons.append(comparisons_item)



        promoted_at: int | None
        promoted_at = self.promoted_at

        created_at = self.created_at


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "student": student,
            "job_id": job_id,
            "model": model,
            "baseline": baseline,
            "status": status,
            "reason": reason,
            "runs": runs,
            "comparisons": comparisons,
            "promoted_at": promoted_at,
            "created_at": created_at,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.gate_runs import GateRuns # noqa: PLC0415
        from ..models.skill_comparison import SkillComparison # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['student.skill'] , d.pop("object"))
        if object_ != 'student.skill':
            raise ValueError(f"object must match const 'student.skill', got '{object_}'")

        student = d.pop("student")

        job_id = d.pop("job_id")

        model = d.pop("model")

        baseline = d.pop("baseline")

        status = check_skill_status(d.pop("status"))




        def _parse_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reason = _parse_reason(d.pop("reason"))


        runs = []
        _runs = d.pop("runs")
        for runs_item_data in (_runs):
            runs_item = GateRuns.from_dict(runs_item_data)



            runs.append(runs_item)


        comparisons = []
        _comparisons = d.pop("comparisons")
        for comparisons_item_data in (_comparisons):
            comparisons_item = SkillComparison.from_dict(comparisons_item_data)



            comparisons.append(comparisons_item)


        def _parse_promoted_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        promoted_at = _parse_promoted_at(d.pop("promoted_at"))


        created_at = d.pop("created_at")

        skill_object = cls(
            id=id,
            object_=object_,
            student=student,
            job_id=job_id,
            model=model,
            baseline=baseline,
            status=status,
            reason=reason,
            runs=runs,
            comparisons=comparisons,
            promoted_at=promoted_at,
            created_at=created_at,
        )


        skill_object.additional_properties = d
        return skill_object

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
