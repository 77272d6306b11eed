from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.chat_json_schema_schema import ChatJsonSchemaSchema





T = TypeVar("T", bound="ChatJsonSchema")



@_attrs_define
class ChatJsonSchema:
    """ A named JSON schema.

        Attributes:
            name (str): Name of the schema.
            schema (ChatJsonSchemaSchema): The JSON schema.
            description (None | str | Unset): Description of the schema, for the model.
            strict (bool | None | Unset): True requires answers that follow the schema exactly.
     """

    name: str
    schema: ChatJsonSchemaSchema
    description: None | str | Unset = UNSET
    strict: bool | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.chat_json_schema_schema import ChatJsonSchemaSchema # noqa: PLC0415
        name = self.name

        schema = self.schema.to_dict()

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        strict: bool | None | Unset
        if isinstance(self.strict, Unset):
            strict = UNSET
        else:
            strict = self.strict


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
            "schema": schema,
        })
        if description is not UNSET:
            field_dict["description"] = description
        if strict is not UNSET:
            field_dict["strict"] = strict

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chat_json_schema_schema import ChatJsonSchemaSchema # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("name")

        schema = ChatJsonSchemaSchema.from_dict(d.pop("schema"))




        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))


        def _parse_strict(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        strict = _parse_strict(d.pop("strict", UNSET))


        chat_json_schema = cls(
            name=name,
            schema=schema,
            description=description,
            strict=strict,
        )


        chat_json_schema.additional_properties = d
        return chat_json_schema

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
