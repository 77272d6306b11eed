from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="AllowedTools")



@_attrs_define
class AllowedTools:
    """ A filter over the tools that a server lists.

        Attributes:
            tool_names (list[str] | None | Unset): Names of the tools to offer; absent: all.
            read_only (bool | None | Unset): True: only tools that the server annotates as read-only; false: only the
                others.
     """

    tool_names: list[str] | None | Unset = UNSET
    read_only: bool | None | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        tool_names: list[str] | None | Unset
        if isinstance(self.tool_names, Unset):
            tool_names = UNSET
        elif isinstance(self.tool_names, list):
            tool_names = self.tool_names


        else:
            tool_names = self.tool_names

        read_only: bool | None | Unset
        if isinstance(self.read_only, Unset):
            read_only = UNSET
        else:
            read_only = self.read_only


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if tool_names is not UNSET:
            field_dict["tool_names"] = tool_names
        if read_only is not UNSET:
            field_dict["read_only"] = read_only

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_tool_names(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tool_names_type_0 = cast(list[str], data)

                return tool_names_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        tool_names = _parse_tool_names(d.pop("tool_names", UNSET))


        def _parse_read_only(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        read_only = _parse_read_only(d.pop("read_only", UNSET))


        allowed_tools = cls(
            tool_names=tool_names,
            read_only=read_only,
        )

        return allowed_tools

