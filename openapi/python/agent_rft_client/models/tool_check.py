from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.tool_check_status import check_tool_check_status
from ..models.tool_check_status import ToolCheckStatus
from typing import cast






T = TypeVar("T", bound="ToolCheck")



@_attrs_define
class ToolCheck:
    """ One check; it may have further keys with its numbers.

        Attributes:
            name (str): Name of the check.
            status (ToolCheckStatus): Result of the check.
            detail (str): The result in a sentence.
     """

    name: str
    status: ToolCheckStatus
    detail: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        name = self.name

        status: str = self.status

        detail = self.detail


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
            "status": status,
            "detail": detail,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        status = check_tool_check_status(d.pop("status"))




        detail = d.pop("detail")

        tool_check = cls(
            name=name,
            status=status,
            detail=detail,
        )


        tool_check.additional_properties = d
        return tool_check

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
