from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="ServiceAccountKey")



@_attrs_define
class ServiceAccountKey:
    """ A new key with its value, which no other reply contains.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['organization.project.service_account.api_key']): Type of the object; each type has one
                constant value. Default: 'organization.project.service_account.api_key'.
            name (str): Name for readers; it need not be unique.
            created_at (int): Unix seconds at which the object was made.
            expires_at (int | None): Unix seconds at which it expires; `null`: it does not expire.
            value (str): The key. No later reply contains it.
     """

    id: str
    name: str
    created_at: int
    expires_at: int | None
    value: str
    object_: Literal['organization.project.service_account.api_key'] = 'organization.project.service_account.api_key'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        name = self.name

        created_at = self.created_at

        expires_at: int | None
        expires_at = self.expires_at

        value = self.value


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "name": name,
            "created_at": created_at,
            "expires_at": expires_at,
            "value": value,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['organization.project.service_account.api_key'] , d.pop("object"))
        if object_ != 'organization.project.service_account.api_key':
            raise ValueError(f"object must match const 'organization.project.service_account.api_key', got '{object_}'")

        name = d.pop("name")

        created_at = d.pop("created_at")

        def _parse_expires_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))


        value = d.pop("value")

        service_account_key = cls(
            id=id,
            object_=object_,
            name=name,
            created_at=created_at,
            expires_at=expires_at,
            value=value,
        )


        service_account_key.additional_properties = d
        return service_account_key

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
