from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="UpdateProject")



@_attrs_define
class UpdateProject:
    """ Changes of a project; absent fields do not change.

        Attributes:
            name (None | str | Unset): Name for readers; it need not be unique.
            geography (None | Unset): Not offered
            external_key_id (None | Unset): Not offered
     """

    name: None | str | Unset = UNSET
    geography: None | Unset = UNSET
    external_key_id: None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        geography = self.geography

        external_key_id = self.external_key_id


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if name is not UNSET:
            field_dict["name"] = name
        if geography is not UNSET:
            field_dict["geography"] = geography
        if external_key_id is not UNSET:
            field_dict["external_key_id"] = external_key_id

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))


        geography = d.pop("geography", UNSET)

        external_key_id = d.pop("external_key_id", UNSET)

        update_project = cls(
            name=name,
            geography=geography,
            external_key_id=external_key_id,
        )


        update_project.additional_properties = d
        return update_project

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
