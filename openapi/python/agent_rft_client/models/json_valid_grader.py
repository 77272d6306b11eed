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
  from ..models.json_valid_grader_json_schema_type_0 import JsonValidGraderJsonSchemaType0





T = TypeVar("T", bound="JsonValidGrader")



@_attrs_define
class JsonValidGrader:
    """ 1 when the text is JSON, and valid by the schema if there is one, else 0.

        Attributes:
            type_ (Literal['json_valid']): Selects the kind of the object.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            name (str | Unset): Name for readers; it need not be unique. Default: 'json_valid'.
            input_ (str | Unset): Template of the text. Default: '{{sample.output_text}}'.
            json_schema (JsonValidGraderJsonSchemaType0 | None | Unset): JSON Schema (2020-12) of the value; its `$ref` must
                refer to parts of itself, because nothing is fetched.
            fenced (bool | Unset): True: the JSON may be in the only Markdown block of the text instead. Default: False.
     """

    type_: Literal['json_valid']
    pass_threshold: float | None | Unset = UNSET
    name: str | Unset = 'json_valid'
    input_: str | Unset = '{{sample.output_text}}'
    json_schema: JsonValidGraderJsonSchemaType0 | None | Unset = UNSET
    fenced: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.json_valid_grader_json_schema_type_0 import JsonValidGraderJsonSchemaType0 # noqa: PLC0415
        type_ = self.type_

        pass_threshold: float | None | Unset
        if isinstance(self.pass_threshold, Unset):
            pass_threshold = UNSET
        else:
            pass_threshold = self.pass_threshold

        name = self.name

        input_ = self.input_

        json_schema: dict[str, Any] | None | Unset
        if isinstance(self.json_schema, Unset):
            json_schema = UNSET
        elif isinstance(self.json_schema, JsonValidGraderJsonSchemaType0):
            json_schema = self.json_schema.to_dict()
        else:
            json_schema = self.json_schema

        fenced = self.fenced


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
        })
        if pass_threshold is not UNSET:
            field_dict["pass_threshold"] = pass_threshold
        if name is not UNSET:
            field_dict["name"] = name
        if input_ is not UNSET:
            field_dict["input"] = input_
        if json_schema is not UNSET:
            field_dict["json_schema"] = json_schema
        if fenced is not UNSET:
            field_dict["fenced"] = fenced

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.json_valid_grader_json_schema_type_0 import JsonValidGraderJsonSchemaType0 # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['json_valid'] , d.pop("type"))
        if type_ != 'json_valid':
            raise ValueError(f"type must match const 'json_valid', got '{type_}'")

        def _parse_pass_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        pass_threshold = _parse_pass_threshold(d.pop("pass_threshold", UNSET))


        name = d.pop("name", UNSET)

        input_ = d.pop("input", UNSET)

        def _parse_json_schema(data: object) -> JsonValidGraderJsonSchemaType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                json_schema_type_0 = JsonValidGraderJsonSchemaType0.from_dict(data)



                return json_schema_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(JsonValidGraderJsonSchemaType0 | None | Unset, data)

        json_schema = _parse_json_schema(d.pop("json_schema", UNSET))


        fenced = d.pop("fenced", UNSET)

        json_valid_grader = cls(
            type_=type_,
            pass_threshold=pass_threshold,
            name=name,
            input_=input_,
            json_schema=json_schema,
            fenced=fenced,
        )


        json_valid_grader.additional_properties = d
        return json_valid_grader

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
