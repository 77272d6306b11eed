from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.feedback_source import FeedbackSource





T = TypeVar("T", bound="FeedbackSources")



@_attrs_define
class FeedbackSources:
    """ The use of the feedback of each type.

        Attributes:
            thumbs (FeedbackSource): The use of the feedback of one type.
            correction (FeedbackSource): The use of the feedback of one type.
            preference (FeedbackSource): The use of the feedback of one type.
     """

    thumbs: FeedbackSource
    correction: FeedbackSource
    preference: FeedbackSource
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.feedback_source import FeedbackSource # noqa: PLC0415
        thumbs = self.thumbs.to_dict()

        correction = self.correction.to_dict()

        preference = self.preference.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "thumbs": thumbs,
            "correction": correction,
            "preference": preference,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.feedback_source import FeedbackSource # noqa: PLC0415
        d = dict(src_dict)
        thumbs = FeedbackSource.from_dict(d.pop("thumbs"))




        correction = FeedbackSource.from_dict(d.pop("correction"))




        preference = FeedbackSource.from_dict(d.pop("preference"))




        feedback_sources = cls(
            thumbs=thumbs,
            correction=correction,
            preference=preference,
        )


        feedback_sources.additional_properties = d
        return feedback_sources

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
