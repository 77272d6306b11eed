from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.chat_function_call_delta import ChatFunctionCallDelta





T = TypeVar("T", bound="ChatToolCallDelta")



@_attrs_define
class ChatToolCallDelta:
    """ A piece of a tool call in a stream. The CPU engine sends a call in one piece, vLLM its id and
    name first and then its arguments as they are sampled.

        Attributes:
            index (int): Number of the call in its message, from 0; all pieces of a call have the same.
            id (None | str | Unset): Id that the `tool` message in reply repeats, in the call's first piece.
            type_ (Literal['function'] | None | Unset): Always `function`, in the call's first piece.
            function (ChatFunctionCallDelta | None | Unset): The function that is called, or more of its arguments.
     """

    index: int
    id: None | str | Unset = UNSET
    type_: Literal['function'] | None | Unset = UNSET
    function: ChatFunctionCallDelta | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.chat_function_call_delta import ChatFunctionCallDelta # noqa: PLC0415
        index = self.index

        id: None | str | Unset
        if isinstance(self.id, Unset):
            id = UNSET
        else:
            id = self.id

        type_: Literal['function'] | None | Unset
        if isinstance(self.type_, Unset):
            type_ = UNSET
        else:
            type_ = self.type_

        function: dict[str, Any] | None | Unset
        if isinstance(self.function, Unset):
            function = UNSET
        elif isinstance(self.function, ChatFunctionCallDelta):
            function = self.function.to_dict()
        else:
            function = self.function


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "index": index,
        })
        if id is not UNSET:
            field_dict["id"] = id
        if type_ is not UNSET:
            field_dict["type"] = type_
        if function is not UNSET:
            field_dict["function"] = function

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chat_function_call_delta import ChatFunctionCallDelta # noqa: PLC0415
        d = dict(src_dict)
        index = d.pop("index")

        def _parse_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        id = _parse_id(d.pop("id", UNSET))


        def _parse_type_(data: object) -> Literal['function'] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            type_type_0 = cast(Literal['function'] , data)
            if type_type_0 != 'function':
                raise ValueError(f"type_type_0 must match const 'function', got '{type_type_0}'")
            return type_type_0
            return cast(Literal['function'] | None | Unset, data)

        type_ = _parse_type_(d.pop("type", UNSET))


        def _parse_function(data: object) -> ChatFunctionCallDelta | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                function_type_0 = ChatFunctionCallDelta.from_dict(data)



                return function_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ChatFunctionCallDelta | None | Unset, data)

        function = _parse_function(d.pop("function", UNSET))


        chat_tool_call_delta = cls(
            index=index,
            id=id,
            type_=type_,
            function=function,
        )


        chat_tool_call_delta.additional_properties = d
        return chat_tool_call_delta

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
