from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.chat_function_name import ChatFunctionName





T = TypeVar("T", bound="ChatNamedTool")



@_attrs_define
class ChatNamedTool:
    """ The choice of one tool.

        Attributes:
            type_ (Literal['function']): Always `function`.
            function (ChatFunctionName): The function that the model must call.
     """

    type_: Literal['function']
    function: ChatFunctionName
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.chat_function_name import ChatFunctionName # noqa: PLC0415
        type_ = self.type_

        function = self.function.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
            "function": function,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chat_function_name import ChatFunctionName # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['function'] , d.pop("type"))
        if type_ != 'function':
            raise ValueError(f"type must match const 'function', got '{type_}'")

        function = ChatFunctionName.from_dict(d.pop("function"))




        chat_named_tool = cls(
            type_=type_,
            function=function,
        )


        chat_named_tool.additional_properties = d
        return chat_named_tool

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
