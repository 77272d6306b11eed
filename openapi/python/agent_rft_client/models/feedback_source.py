from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="FeedbackSource")



@_attrs_define
class FeedbackSource:
    """ The use of the feedback of one type.

        Attributes:
            feedback (int): Feedback that was read.
            used (int): Feedback that a row uses.
            rows (int): Rows that it made.
     """

    feedback: int
    used: int
    rows: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        feedback = self.feedback

        used = self.used

        rows = self.rows


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "feedback": feedback,
            "used": used,
            "rows": rows,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        feedback = d.pop("feedback")

        used = d.pop("used")

        rows = d.pop("rows")

        feedback_source = cls(
            feedback=feedback,
            used=used,
            rows=rows,
        )


        feedback_source.additional_properties = d
        return feedback_source

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
