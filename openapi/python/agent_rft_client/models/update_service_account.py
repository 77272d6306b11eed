from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.update_service_account_role_type_0 import check_update_service_account_role_type_0
from ..models.update_service_account_role_type_0 import UpdateServiceAccountRoleType0
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="UpdateServiceAccount")



@_attrs_define
class UpdateServiceAccount:
    """ Changes of a service account; absent fields do not change.

        Attributes:
            name (None | str | Unset): Name for readers; it need not be unique.
            role (None | Unset | UpdateServiceAccountRoleType0): The new role.
     """

    name: None | str | Unset = UNSET
    role: None | Unset | UpdateServiceAccountRoleType0 = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        role: None | str | Unset
        if isinstance(self.role, Unset):
            role = UNSET
        elif isinstance(self.role, str):
            role = self.role
        else:
            role = self.role


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if name is not UNSET:
            field_dict["name"] = name
        if role is not UNSET:
            field_dict["role"] = role

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


        def _parse_role(data: object) -> None | Unset | UpdateServiceAccountRoleType0:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                role_type_0 = check_update_service_account_role_type_0(data)



                return role_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | UpdateServiceAccountRoleType0, data)

        role = _parse_role(d.pop("role", UNSET))


        update_service_account = cls(
            name=name,
            role=role,
        )


        update_service_account.additional_properties = d
        return update_service_account

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
