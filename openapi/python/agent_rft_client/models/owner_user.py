from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import Literal, cast






T = TypeVar("T", bound="OwnerUser")



@_attrs_define
class OwnerUser:
    """ The organization, as owner of a key that its operator created; the service has no users.

        Attributes:
            id (str): Id of the organization.
            email (Literal['']): Always empty: the service has no users. Default: ''.
            name (str): Name for readers; it need not be unique.
            created_at (int): Unix seconds at which the object was made.
            role (Literal['owner']): Always `owner`. Default: 'owner'.
     """

    id: str
    name: str
    created_at: int
    email: Literal[''] = ''
    role: Literal['owner'] = 'owner'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        id = self.id

        email = self.email

        name = self.name

        created_at = self.created_at

        role = self.role


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "email": email,
            "name": name,
            "created_at": created_at,
            "role": role,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        email = cast(Literal[''] , d.pop("email"))
        if email != '':
            raise ValueError(f"email must match const '', got '{email}'")

        name = d.pop("name")

        created_at = d.pop("created_at")

        role = cast(Literal['owner'] , d.pop("role"))
        if role != 'owner':
            raise ValueError(f"role must match const 'owner', got '{role}'")

        owner_user = cls(
            id=id,
            email=email,
            name=name,
            created_at=created_at,
            role=role,
        )


        owner_user.additional_properties = d
        return owner_user

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
