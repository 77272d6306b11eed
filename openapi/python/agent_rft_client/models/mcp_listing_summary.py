from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast






T = TypeVar("T", bound="McpListingSummary")



@_attrs_define
class McpListingSummary:
    """ The summary of a listing: lists of jobs show it instead of the tools.

        Attributes:
            protocol_version (str): Version of the protocol that server and service agreed on.
            tool_count (int): Number of tools that the job offers.
            tool_names (list[str]): Names of the first 10 tools, in the server's order.
     """

    protocol_version: str
    tool_count: int
    tool_names: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        protocol_version = self.protocol_version

        tool_count = self.tool_count

        tool_names = self.tool_names




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "protocol_version": protocol_version,
            "tool_count": tool_count,
            "tool_names": tool_names,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        protocol_version = d.pop("protocol_version")

        tool_count = d.pop("tool_count")

        tool_names = cast(list[str], d.pop("tool_names"))


        mcp_listing_summary = cls(
            protocol_version=protocol_version,
            tool_count=tool_count,
            tool_names=tool_names,
        )


        mcp_listing_summary.additional_properties = d
        return mcp_listing_summary

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
