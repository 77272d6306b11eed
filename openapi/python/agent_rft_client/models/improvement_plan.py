from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.improvement_plan_method import check_improvement_plan_method
from ..models.improvement_plan_method import ImprovementPlanMethod
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.fault import Fault
  from ..models.improvement_plan_job import ImprovementPlanJob
  from ..models.knob_explanation import KnobExplanation
  from ..models.knobs import Knobs
  from ..models.plan_estimate import PlanEstimate





T = TypeVar("T", bound="ImprovementPlan")



@_attrs_define
class ImprovementPlan:
    """ A compiled plan; nothing is stored and no job is made.

        Attributes:
            object_ (Literal['improvement_plan']): Type of the object; each type has one constant value. Default:
                'improvement_plan'.
            recipe (None | str): Id of the recipe that the plan started from; `null` without one.
            method (ImprovementPlanMethod): Training method of the job.
            knobs (Knobs): Positions of all knobs of a plan.
            job (ImprovementPlanJob): Body for `POST /v1/fine_tuning/jobs`, to read, edit and send.
            estimate (None | PlanEstimate): Cost of the job; `null` if the rows cannot be counted.
            explanation (list[KnobExplanation]): The effect of each knob on the job.
            warnings (list[Fault]): Faults with which the job would run, as `validate` reports them.
     """

    recipe: None | str
    method: ImprovementPlanMethod
    knobs: Knobs
    job: ImprovementPlanJob
    estimate: None | PlanEstimate
    explanation: list[KnobExplanation]
    warnings: list[Fault]
    object_: Literal['improvement_plan'] = 'improvement_plan'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.fault import Fault # noqa: PLC0415
        from ..models.improvement_plan_job import ImprovementPlanJob # noqa: PLC0415
        from ..models.knob_explanation import KnobExplanation # noqa: PLC0415
        from ..models.knobs import Knobs # noqa: PLC0415
        from ..models.plan_estimate import PlanEstimate # noqa: PLC0415
        object_ = self.object_

        recipe: None | str
        recipe = self.recipe

        method: str = self.method

        knobs = self.knobs.to_dict()

        job = self.job.to_dict()

        estimate: dict[str, Any] | None
        if isinstance(self.estimate, PlanEstimate):
            estimate = self.estimate.to_dict()
        else:
            estimate = self.estimate

        explanation = []
        for explanation_item_data in self.explanation:
            explanation_item = explanation_item_data.to_dict()
            explanation.append(explanation_item)



        warnings = []
        for warnings_item_data in self.warnings:
            warnings_item = warnings_item_data.to_dict()
            warnings.append(warnings_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "recipe": recipe,
            "method": method,
            "knobs": knobs,
            "job": job,
            "estimate": estimate,
            "explanation": explanation,
            "warnings": warnings,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.fault import Fault # noqa: PLC0415
        from ..models.improvement_plan_job import ImprovementPlanJob # noqa: PLC0415
        from ..models.knob_explanation import KnobExplanation # noqa: PLC0415
        from ..models.knobs import Knobs # noqa: PLC0415
        from ..models.plan_estimate import PlanEstimate # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['improvement_plan'] , d.pop("object"))
        if object_ != 'improvement_plan':
            raise ValueError(f"object must match const 'improvement_plan', got '{object_}'")

        def _parse_recipe(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        recipe = _parse_recipe(d.pop("recipe"))


        method = check_improvement_plan_method(d.pop("method"))




        knobs = Knobs.from_dict(d.pop("knobs"))




        job = ImprovementPlanJob.from_dict(d.pop("job"))




        def _parse_estimate(data: object) -> None | PlanEstimate:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                estimate_type_0 = PlanEstimate.from_dict(data)



                return estimate_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PlanEstimate, data)

        estimate = _parse_estimate(d.pop("estimate"))


        explanation = []
        _explanation = d.pop("explanation")
        for explanation_item_data in (_explanation):
            explanation_item = KnobExplanation.from_dict(explanation_item_data)



            explanation.append(explanation_item)


        warnings = []
        _warnings = d.pop("warnings")
        for warnings_item_data in (_warnings):
            warnings_item = Fault.from_dict(warnings_item_data)



            warnings.append(warnings_item)


        improvement_plan = cls(
            object_=object_,
            recipe=recipe,
            method=method,
            knobs=knobs,
            job=job,
            estimate=estimate,
            explanation=explanation,
            warnings=warnings,
        )


        improvement_plan.additional_properties = d
        return improvement_plan

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
