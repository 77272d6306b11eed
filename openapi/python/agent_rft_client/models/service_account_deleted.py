from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import Literal, cast






T = TypeVar("T", bound="ServiceAccountDeleted")



@_attrs_define
class ServiceAccountDeleted:
    """ The confirmation that a service account and its keys are deleted.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['organization.project.service_account.deleted']): Type of the object; each type has one
                constant value. Default: 'organization.project.service_account.deleted'.
            deleted (bool): True: the object is deleted. Default: True.
     """

    id: str
    object_: Literal['organization.project.service_account.deleted'] = 'organization.project.service_account.deleted'
    deleted: bool = True
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        deleted = self.deleted


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "deleted": deleted,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['organization.project.service_account.deleted'] , d.pop("object"))
        if object_ != 'organization.project.service_account.deleted':
            raise ValueError(f"object must match const 'organization.project.service_account.deleted', got '{object_}'")

        deleted = d.pop("deleted")

        service_account_deleted = cls(
            id=id,
            object_=object_,
            deleted=deleted,
        )


        service_account_deleted.additional_properties = d
        return service_account_deleted

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
