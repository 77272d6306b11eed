from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.improvement_plan_reading_method import check_improvement_plan_reading_method
from ..models.improvement_plan_reading_method import ImprovementPlanReadingMethod
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.fault import Fault
  from ..models.knob_explanation import KnobExplanation
  from ..models.knobs import Knobs
  from ..models.outside import Outside





T = TypeVar("T", bound="ImprovementPlanReading")



@_attrs_define
class ImprovementPlanReading:
    """ A job as the nearest knob positions.

        Attributes:
            object_ (Literal['improvement_plan.reading']): Type of the object; each type has one constant value. Default:
                'improvement_plan.reading'.
            method (ImprovementPlanReadingMethod): Training method of the job.
            knobs (Knobs): Positions of all knobs of a plan.
            explanation (list[KnobExplanation]): The settings of these positions.
            exact (bool): True if the positions express the whole job.
            outside (list[Outside]): Settings of the job that the positions do not express.
            warnings (list[Fault]): Keys of the sent body that nothing reads.
     """

    method: ImprovementPlanReadingMethod
    knobs: Knobs
    explanation: list[KnobExplanation]
    exact: bool
    outside: list[Outside]
    warnings: list[Fault]
    object_: Literal['improvement_plan.reading'] = 'improvement_plan.reading'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.fault import Fault # noqa: PLC0415
        from ..models.knob_explanation import KnobExplanation # noqa: PLC0415
        from ..models.knobs import Knobs # noqa: PLC0415
        from ..models.outside import Outside # noqa: PLC0415
        object_ = self.object_

        method: str = self.method

        knobs = self.knobs.to_dict()

        explanation = []
        for explanation_item_data in self.explanation:
            explanation_item = explanation_item_data.to_dict()
            explanation.append(explanation_item)



        exact = self.exact

        outside = []
        for outside_item_data in self.outside:
            outside_item = outside_item_data.to_dict()
            outside.append(outside_item)



        warnings = []
        for warnings_item_data in self.warnings:
            warnings_item = warnings_item_data.to_dict()
            warnings.append(warnings_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "method": method,
            "knobs": knobs,
            "explanation": explanation,
            "exact": exact,
            "outside": outside,
            "warnings": warnings,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.fault import Fault # noqa: PLC0415
        from ..models.knob_explanation import KnobExplanation # noqa: PLC0415
        from ..models.knobs import Knobs # noqa: PLC0415
        from ..models.outside import Outside # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['improvement_plan.reading'] , d.pop("object"))
        if object_ != 'improvement_plan.reading':
            raise ValueError(f"object must match const 'improvement_plan.reading', got '{object_}'")

        method = check_improvement_plan_reading_method(d.pop("method"))




        knobs = Knobs.from_dict(d.pop("knobs"))




        explanation = []
        _explanation = d.pop("explanation")
        for explanation_item_data in (_explanation):
            explanation_item = KnobExplanation.from_dict(explanation_item_data)



            explanation.append(explanation_item)


        exact = d.pop("exact")

        outside = []
        _outside = d.pop("outside")
        for outside_item_data in (_outside):
            outside_item = Outside.from_dict(outside_item_data)



            outside.append(outside_item)


        warnings = []
        _warnings = d.pop("warnings")
        for warnings_item_data in (_warnings):
            warnings_item = Fault.from_dict(warnings_item_data)



            warnings.append(warnings_item)


        improvement_plan_reading = cls(
            object_=object_,
            method=method,
            knobs=knobs,
            explanation=explanation,
            exact=exact,
            outside=outside,
            warnings=warnings,
        )


        improvement_plan_reading.additional_properties = d
        return improvement_plan_reading

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
