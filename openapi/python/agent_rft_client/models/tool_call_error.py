from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import Literal, cast






T = TypeVar("T", bound="ToolCallError")



@_attrs_define
class ToolCallError:
    """ A tool call that cannot be parsed (an extension): its text is the message's content.

        Attributes:
            type_ (Literal['unparsable_tool_call']): Always `unparsable_tool_call`.
            message (str): The sentence that the model reads in training, as the reply to the call.
            tool_call_id (str): Id for the `tool` message in reply.
     """

    type_: Literal['unparsable_tool_call']
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
        type_ = cast(Literal['unparsable_tool_call'] , d.pop("type"))
        if type_ != 'unparsable_tool_call':
            raise ValueError(f"type must match const 'unparsable_tool_call', got '{type_}'")

        message = d.pop("message")

        tool_call_id = d.pop("tool_call_id")

        tool_call_error = cls(
            type_=type_,
            message=message,
            tool_call_id=tool_call_id,
        )


        tool_call_error.additional_properties = d
        return tool_call_error

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
