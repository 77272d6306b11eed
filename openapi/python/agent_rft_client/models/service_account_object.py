from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.service_account_object_role import check_service_account_object_role
from ..models.service_account_object_role import ServiceAccountObjectRole
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="ServiceAccountObject")



@_attrs_define
class ServiceAccountObject:
    """ A service account: a non-human owner of keys.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['organization.project.service_account']): Type of the object; each type has one constant value.
                Default: 'organization.project.service_account'.
            name (str): Name for readers; it need not be unique.
            role (ServiceAccountObjectRole): `none` without a key.
            created_at (int): Unix seconds at which the object was made.
     """

    id: str
    name: str
    role: ServiceAccountObjectRole
    created_at: int
    object_: Literal['organization.project.service_account'] = 'organization.project.service_account'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        name = self.name

        role: str = self.role

        created_at = self.created_at


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "name": name,
            "role": role,
            "created_at": created_at,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['organization.project.service_account'] , d.pop("object"))
        if object_ != 'organization.project.service_account':
            raise ValueError(f"object must match const 'organization.project.service_account', got '{object_}'")

        name = d.pop("name")

        role = check_service_account_object_role(d.pop("role"))




        created_at = d.pop("created_at")

        service_account_object = cls(
            id=id,
            object_=object_,
            name=name,
            role=role,
            created_at=created_at,
        )


        service_account_object.additional_properties = d
        return service_account_object

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
