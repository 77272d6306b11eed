from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="ChatStreamOptions")



@_attrs_define
class ChatStreamOptions:
    """ Options of a streamed answer.

        Attributes:
            include_usage (bool | None | Unset): True sends the usage in a last chunk of its own.
            include_obfuscation (bool | None | Unset): Only false: chunks have no padding.
     """

    include_usage: bool | None | Unset = UNSET
    include_obfuscation: bool | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        include_usage: bool | None | Unset
        if isinstance(self.include_usage, Unset):
            include_usage = UNSET
        else:
            include_usage = self.include_usage

        include_obfuscation: bool | None | Unset
        if isinstance(self.include_obfuscation, Unset):
            include_obfuscation = UNSET
        else:
            include_obfuscation = self.include_obfuscation


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if include_usage is not UNSET:
            field_dict["include_usage"] = include_usage
        if include_obfuscation is not UNSET:
            field_dict["include_obfuscation"] = include_obfuscation

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_include_usage(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        include_usage = _parse_include_usage(d.pop("include_usage", UNSET))


        def _parse_include_obfuscation(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        include_obfuscation = _parse_include_obfuscation(d.pop("include_obfuscation", UNSET))


        chat_stream_options = cls(
            include_usage=include_usage,
            include_obfuscation=include_obfuscation,
        )


        chat_stream_options.additional_properties = d
        return chat_stream_options

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
