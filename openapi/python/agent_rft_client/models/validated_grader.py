from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.validated_grader_grader import ValidatedGraderGrader





T = TypeVar("T", bound="ValidatedGrader")



@_attrs_define
class ValidatedGrader:
    """ The grader as it was read, with its defaults.

        Attributes:
            grader (ValidatedGraderGrader): The grader with default values added and secrets redacted.
     """

    grader: ValidatedGraderGrader
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.validated_grader_grader import ValidatedGraderGrader # noqa: PLC0415
        grader = self.grader.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "grader": grader,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.validated_grader_grader import ValidatedGraderGrader # noqa: PLC0415
        d = dict(src_dict)
        grader = ValidatedGraderGrader.from_dict(d.pop("grader"))




        validated_grader = cls(
            grader=grader,
        )


        validated_grader.additional_properties = d
        return validated_grader

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
