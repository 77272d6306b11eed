from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.data_source_config_type import check_data_source_config_type
from ..models.data_source_config_type import DataSourceConfigType
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.data_source_config_item_schema_type_0 import DataSourceConfigItemSchemaType0





T = TypeVar("T", bound="DataSourceConfig")



@_attrs_define
class DataSourceConfig:
    """ The form of the items of an eval.

        Attributes:
            type_ (DataSourceConfigType): Selects the kind of the object.
            item_schema (DataSourceConfigItemSchemaType0 | None | Unset): JSON schema of an item.
            include_sample_schema (bool | Unset): True if criteria read `sample` beside `item`. Default: False.
     """

    type_: DataSourceConfigType
    item_schema: DataSourceConfigItemSchemaType0 | None | Unset = UNSET
    include_sample_schema: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.data_source_config_item_schema_type_0 import DataSourceConfigItemSchemaType0 # noqa: PLC0415
        type_: str = self.type_

        item_schema: dict[str, Any] | None | Unset
        if isinstance(self.item_schema, Unset):
            item_schema = UNSET
        elif isinstance(self.item_schema, DataSourceConfigItemSchemaType0):
            item_schema = self.item_schema.to_dict()
        else:
            item_schema = self.item_schema

        include_sample_schema = self.include_sample_schema


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
        })
        if item_schema is not UNSET:
            field_dict["item_schema"] = item_schema
        if include_sample_schema is not UNSET:
            field_dict["include_sample_schema"] = include_sample_schema

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.data_source_config_item_schema_type_0 import DataSourceConfigItemSchemaType0 # noqa: PLC0415
        d = dict(src_dict)
        type_ = check_data_source_config_type(d.pop("type"))




        def _parse_item_schema(data: object) -> DataSourceConfigItemSchemaType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                item_schema_type_0 = DataSourceConfigItemSchemaType0.from_dict(data)



                return item_schema_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DataSourceConfigItemSchemaType0 | None | Unset, data)

        item_schema = _parse_item_schema(d.pop("item_schema", UNSET))


        include_sample_schema = d.pop("include_sample_schema", UNSET)

        data_source_config = cls(
            type_=type_,
            item_schema=item_schema,
            include_sample_schema=include_sample_schema,
        )


        data_source_config.additional_properties = d
        return data_source_config

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
