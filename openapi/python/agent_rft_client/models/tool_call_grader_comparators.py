from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.tool_call_grader_comparators_additional_property import check_tool_call_grader_comparators_additional_property
from ..models.tool_call_grader_comparators_additional_property import ToolCallGraderComparatorsAdditionalProperty
from typing import cast






T = TypeVar("T", bound="ToolCallGraderComparators")



@_attrs_define
class ToolCallGraderComparators:
    """ Comparison of single arguments, by name; `exact` for all others. `number` compares values, `contains` looks for the
    expected text, `unordered` compares lists as sets, `any` accepts every value, even a missing one.

     """

    additional_properties: dict[str, ToolCallGraderComparatorsAdditionalProperty] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        
        field_dict: dict[str, Any] = {}
        for prop_name, prop in self.additional_properties.items():
            field_dict[prop_name] = prop


        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        tool_call_grader_comparators = cls(
        )


        additional_properties = {}
        for prop_name, prop_dict in d.items():
            additional_property = check_tool_call_grader_comparators_additional_property(prop_dict)



            additional_properties[prop_name] = additional_property

        tool_call_grader_comparators.additional_properties = additional_properties
        return tool_call_grader_comparators

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> ToolCallGraderComparatorsAdditionalProperty:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: ToolCallGraderComparatorsAdditionalProperty) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
