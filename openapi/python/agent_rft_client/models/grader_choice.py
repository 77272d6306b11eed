from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.grader_choice_grader import GraderChoiceGrader





T = TypeVar("T", bound="GraderChoice")



@_attrs_define
class GraderChoice:
    """ The grader that `auto` stands for.

        Attributes:
            grader (GraderChoiceGrader): The chosen grader with its defaults, in the form of a create call.
            reason (str): The reason for the choice, in a sentence.
            warning (None | str): A sentence about an option of `auto` that the choice does not use; `None` without one.
     """

    grader: GraderChoiceGrader
    reason: str
    warning: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.grader_choice_grader import GraderChoiceGrader # noqa: PLC0415
        grader = self.grader.to_dict()

        reason = self.reason

        warning: None | str
        warning = self.warning


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "grader": grader,
            "reason": reason,
            "warning": warning,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.grader_choice_grader import GraderChoiceGrader # noqa: PLC0415
        d = dict(src_dict)
        grader = GraderChoiceGrader.from_dict(d.pop("grader"))




        reason = d.pop("reason")

        def _parse_warning(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        warning = _parse_warning(d.pop("warning"))


        grader_choice = cls(
            grader=grader,
            reason=reason,
            warning=warning,
        )


        grader_choice.additional_properties = d
        return grader_choice

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
