from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.feedback_finding import FeedbackFinding





T = TypeVar("T", bound="FeedbackFindings")



@_attrs_define
class FeedbackFindings:
    """ Feedback that repeats or contradicts other feedback, finding by finding.

        Attributes:
            object_ (Literal['feedback.findings']): Type of the object; each type has one constant value. Default:
                'feedback.findings'.
            total (int): Number of all findings.
            data (list[FeedbackFinding]): The first of them: duplicates, then contradictions.
     """

    total: int
    data: list[FeedbackFinding]
    object_: Literal['feedback.findings'] = 'feedback.findings'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.feedback_finding import FeedbackFinding # noqa: PLC0415
        object_ = self.object_

        total = self.total

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "total": total,
            "data": data,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.feedback_finding import FeedbackFinding # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['feedback.findings'] , d.pop("object"))
        if object_ != 'feedback.findings':
            raise ValueError(f"object must match const 'feedback.findings', got '{object_}'")

        total = d.pop("total")

        data = []
        _data = d.pop("data")
        for data_item_data in (_data):
            data_item = FeedbackFinding.from_dict(data_item_data)



            data.append(data_item)


        feedback_findings = cls(
            object_=object_,
            total=total,
            data=data,
        )


        feedback_findings.additional_properties = d
        return feedback_findings

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
