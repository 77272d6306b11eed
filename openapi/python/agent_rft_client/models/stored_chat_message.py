from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.stored_chat_message_content_parts_type_0_item import StoredChatMessageContentPartsType0Item
  from ..models.stored_chat_message_tool_calls_type_0_item import StoredChatMessageToolCallsType0Item





T = TypeVar("T", bound="StoredChatMessage")



@_attrs_define
class StoredChatMessage:
    """ A message of the conversation that a stored completion continued.

        Attributes:
            id (str): Id of the completion with the number of the message, from 0.
            role (str): Role of the speaker.
            content (None | str): The text; that of all parts if it was sent in parts.
            content_parts (list[StoredChatMessageContentPartsType0Item] | None): The parts of the text, if it was sent in
                parts.
            name (None | str | Unset): Name of the speaker, if one was sent.
            tool_calls (list[StoredChatMessageToolCallsType0Item] | None | Unset): Calls of an earlier answer, if it had
                any.
            tool_call_id (None | str | Unset): Id of the call that a `tool` message answers.
     """

    id: str
    role: str
    content: None | str
    content_parts: list[StoredChatMessageContentPartsType0Item] | None
    name: None | str | Unset = UNSET
    tool_calls: list[StoredChatMessageToolCallsType0Item] | None | Unset = UNSET
    tool_call_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.stored_chat_message_content_parts_type_0_item import StoredChatMessageContentPartsType0Item # noqa: PLC0415
        from ..models.stored_chat_message_tool_calls_type_0_item import StoredChatMessageToolCallsType0Item # noqa: PLC0415
        id = self.id

        role = self.role

        content: None | str
        content = self.content

        content_parts: list[dict[str, Any]] | None
        if isinstance(self.content_parts, list):
            content_parts = []
            for content_parts_type_0_item_data in self.content_parts:
                content_parts_type_0_item = content_parts_type_0_item_data.to_dict()
                content_parts.append(content_parts_type_0_item)


        else:
            content_parts = self.content_parts

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        tool_calls: list[dict[str, Any]] | None | Unset
        if isinstance(self.tool_calls, Unset):
            tool_calls = UNSET
        elif isinstance(self.tool_calls, list):
            tool_calls = []
            for tool_calls_type_0_item_data in self.tool_calls:
                tool_calls_type_0_item = tool_calls_type_0_item_data.to_dict()
                tool_calls.append(tool_calls_type_0_item)


        else:
            tool_calls = self.tool_calls

        tool_call_id: None | str | Unset
        if isinstance(self.tool_call_id, Unset):
            tool_call_id = UNSET
        else:
            tool_call_id = self.tool_call_id


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "role": role,
            "content": content,
            "content_parts": content_parts,
        })
        if name is not UNSET:
            field_dict["name"] = name
        if tool_calls is not UNSET:
            field_dict["tool_calls"] = tool_calls
        if tool_call_id is not UNSET:
            field_dict["tool_call_id"] = tool_call_id

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.stored_chat_message_content_parts_type_0_item import StoredChatMessageContentPartsType0Item # noqa: PLC0415
        from ..models.stored_chat_message_tool_calls_type_0_item import StoredChatMessageToolCallsType0Item # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        role = d.pop("role")

        def _parse_content(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        content = _parse_content(d.pop("content"))


        def _parse_content_parts(data: object) -> list[StoredChatMessageContentPartsType0Item] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                content_parts_type_0 = []
                _content_parts_type_0 = data
                for content_parts_type_0_item_data in (_content_parts_type_0):
                    content_parts_type_0_item = StoredChatMessageContentPartsType0Item.from_dict(content_parts_type_0_item_data)



                    content_parts_type_0.append(content_parts_type_0_item)

                return content_parts_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[StoredChatMessageContentPartsType0Item] | None, data)

        content_parts = _parse_content_parts(d.pop("content_parts"))


        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))


        def _parse_tool_calls(data: object) -> list[StoredChatMessageToolCallsType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tool_calls_type_0 = []
                _tool_calls_type_0 = data
                for tool_calls_type_0_item_data in (_tool_calls_type_0):
                    tool_calls_type_0_item = StoredChatMessageToolCallsType0Item.from_dict(tool_calls_type_0_item_data)



                    tool_calls_type_0.append(tool_calls_type_0_item)

                return tool_calls_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[StoredChatMessageToolCallsType0Item] | None | Unset, data)

        tool_calls = _parse_tool_calls(d.pop("tool_calls", UNSET))


        def _parse_tool_call_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        tool_call_id = _parse_tool_call_id(d.pop("tool_call_id", UNSET))


        stored_chat_message = cls(
            id=id,
            role=role,
            content=content,
            content_parts=content_parts,
            name=name,
            tool_calls=tool_calls,
            tool_call_id=tool_call_id,
        )


        stored_chat_message.additional_properties = d
        return stored_chat_message

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
