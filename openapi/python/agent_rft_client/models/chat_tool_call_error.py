from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="ChatToolCallError")



@_attrs_define
class ChatToolCallError:
    """ The mark of a call that cannot be parsed, sent back as in the reply (an extension).

        Attributes:
            type_ (str): `unparsable_tool_call`.
            message (str): The sentence that the `tool` message in reply contains.
            tool_call_id (str): Id that the `tool` message in reply repeats.
     """

    type_: str
    message: str
    tool_call_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        message = self.message

        tool_call_id = self.tool_call_id


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
            "message": message,
            "tool_call_id": tool_call_id,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = d.pop("type")

        message = d.pop("message")

        tool_call_id = d.pop("tool_call_id")

        chat_tool_call_error = cls(
            type_=type_,
            message=message,
            tool_call_id=tool_call_id,
        )


        chat_tool_call_error.additional_properties = d
        return chat_tool_call_error

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
