from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import Literal, cast






T = TypeVar("T", bound="AdminKeyOwner")



@_attrs_define
class AdminKeyOwner:
    """ Owner of an admin key: the organization, because the service has no users.

        Attributes:
            type_ (Literal['user']): Selects the kind of the object. Default: 'user'.
            object_ (Literal['organization.user']): Type of the object; each type has one constant value. Default:
                'organization.user'.
            id (str): Id of the organization.
            name (str): Name for readers; it need not be unique.
            created_at (int): Unix seconds at which the object was made.
            role (Literal['owner']): Always `owner`. Default: 'owner'.
     """

    id: str
    name: str
    created_at: int
    type_: Literal['user'] = 'user'
    object_: Literal['organization.user'] = 'organization.user'
    role: Literal['owner'] = 'owner'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        object_ = self.object_

        id = self.id

        name = self.name

        created_at = self.created_at

        role = self.role


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
            "object": object_,
            "id": id,
            "name": name,
            "created_at": created_at,
            "role": role,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['user'] , d.pop("type"))
        if type_ != 'user':
            raise ValueError(f"type must match const 'user', got '{type_}'")

        object_ = cast(Literal['organization.user'] , d.pop("object"))
        if object_ != 'organization.user':
            raise ValueError(f"object must match const 'organization.user', got '{object_}'")

        id = d.pop("id")

        name = d.pop("name")

        created_at = d.pop("created_at")

        role = cast(Literal['owner'] , d.pop("role"))
        if role != 'owner':
            raise ValueError(f"role must match const 'owner', got '{role}'")

        admin_key_owner = cls(
            type_=type_,
            object_=object_,
            id=id,
            name=name,
            created_at=created_at,
            role=role,
        )


        admin_key_owner.additional_properties = d
        return admin_key_owner

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
