from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.chat_response_format_type import ChatResponseFormatType
from ..models.chat_response_format_type import check_chat_response_format_type
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.chat_json_schema import ChatJsonSchema





T = TypeVar("T", bound="ChatResponseFormat")



@_attrs_define
class ChatResponseFormat:
    """ Format of the answer.

        Attributes:
            type_ (ChatResponseFormatType): Kind of the format.
            json_schema (ChatJsonSchema | None | Unset): The schema, for `json_schema`.
     """

    type_: ChatResponseFormatType
    json_schema: ChatJsonSchema | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.chat_json_schema import ChatJsonSchema # noqa: PLC0415
        type_: str = self.type_

        json_schema: dict[str, Any] | None | Unset
        if isinstance(self.json_schema, Unset):
            json_schema = UNSET
        elif isinstance(self.json_schema, ChatJsonSchema):
            json_schema = self.json_schema.to_dict()
        else:
            json_schema = self.json_schema


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
        })
        if json_schema is not UNSET:
            field_dict["json_schema"] = json_schema

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chat_json_schema import ChatJsonSchema # noqa: PLC0415
        d = dict(src_dict)
        type_ = check_chat_response_format_type(d.pop("type"))




        def _parse_json_schema(data: object) -> ChatJsonSchema | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                json_schema_type_0 = ChatJsonSchema.from_dict(data)



                return json_schema_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ChatJsonSchema | None | Unset, data)

        json_schema = _parse_json_schema(d.pop("json_schema", UNSET))


        chat_response_format = cls(
            type_=type_,
            json_schema=json_schema,
        )


        chat_response_format.additional_properties = d
        return chat_response_format

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
