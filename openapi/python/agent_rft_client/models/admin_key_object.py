from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.admin_key_owner import AdminKeyOwner





T = TypeVar("T", bound="AdminKeyObject")



@_attrs_define
class AdminKeyObject:
    """ An admin key of the organization, without its value.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['organization.admin_api_key']): Type of the object; each type has one constant value. Default:
                'organization.admin_api_key'.
            name (str): Name for readers; it need not be unique.
            redacted_value (str): A part of the key, by which an owner recognises it.
            created_at (int): Unix seconds at which the object was made.
            expires_at (int | None): Unix seconds at which it expires; `null`: it does not expire.
            last_used_at (int | None): Time of the last use, to the minute.
            owner (AdminKeyOwner): Owner of an admin key: the organization, because the service has no users.
     """

    id: str
    name: str
    redacted_value: str
    created_at: int
    expires_at: int | None
    last_used_at: int | None
    owner: AdminKeyOwner
    object_: Literal['organization.admin_api_key'] = 'organization.admin_api_key'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.admin_key_owner import AdminKeyOwner # noqa: PLC0415
        id = self.id

        object_ = self.object_

        name = self.name

        redacted_value = self.redacted_value

        created_at = self.created_at

        expires_at: int | None
        expires_at = self.expires_at

        last_used_at: int | None
        last_used_at = self.last_used_at

        owner = self.owner.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "name": name,
            "redacted_value": redacted_value,
            "created_at": created_at,
            "expires_at": expires_at,
            "last_used_at": last_used_at,
            "owner": owner,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.admin_key_owner import AdminKeyOwner # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['organization.admin_api_key'] , d.pop("object"))
        if object_ != 'organization.admin_api_key':
            raise ValueError(f"object must match const 'organization.admin_api_key', got '{object_}'")

        name = d.pop("name")

        redacted_value = d.pop("redacted_value")

        created_at = d.pop("created_at")

        def _parse_expires_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))


        def _parse_last_used_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        last_used_at = _parse_last_used_at(d.pop("last_used_at"))


        owner = AdminKeyOwner.from_dict(d.pop("owner"))




        admin_key_object = cls(
            id=id,
            object_=object_,
            name=name,
            redacted_value=redacted_value,
            created_at=created_at,
            expires_at=expires_at,
            last_used_at=last_used_at,
            owner=owner,
        )


        admin_key_object.additional_properties = d
        return admin_key_object

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
