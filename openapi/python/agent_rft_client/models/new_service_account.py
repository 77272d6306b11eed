from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.new_service_account_role import check_new_service_account_role
from ..models.new_service_account_role import NewServiceAccountRole
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.service_account_key import ServiceAccountKey





T = TypeVar("T", bound="NewServiceAccount")



@_attrs_define
class NewServiceAccount:
    """ A new service account with its first key, or without key and role.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['organization.project.service_account']): Type of the object; each type has one constant value.
                Default: 'organization.project.service_account'.
            name (str): Name for readers; it need not be unique.
            role (NewServiceAccountRole): `none` without a key.
            created_at (int): Unix seconds at which the object was made.
            api_key (None | ServiceAccountKey): Its first key; `null` with `create_service_account_only`.
     """

    id: str
    name: str
    role: NewServiceAccountRole
    created_at: int
    api_key: None | ServiceAccountKey
    object_: Literal['organization.project.service_account'] = 'organization.project.service_account'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.service_account_key import ServiceAccountKey # noqa: PLC0415
        id = self.id

        object_ = self.object_

        name = self.name

        role: str = self.role

        created_at = self.created_at

        api_key: dict[str, Any] | None
        if isinstance(self.api_key, ServiceAccountKey):
            api_key = self.api_key.to_dict()
        else:
            api_key = self.api_key


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "name": name,
            "role": role,
            "created_at": created_at,
            "api_key": api_key,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.service_account_key import ServiceAccountKey # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['organization.project.service_account'] , d.pop("object"))
        if object_ != 'organization.project.service_account':
            raise ValueError(f"object must match const 'organization.project.service_account', got '{object_}'")

        name = d.pop("name")

        role = check_new_service_account_role(d.pop("role"))




        created_at = d.pop("created_at")

        def _parse_api_key(data: object) -> None | ServiceAccountKey:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                api_key_type_0 = ServiceAccountKey.from_dict(data)



                return api_key_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ServiceAccountKey, data)

        api_key = _parse_api_key(d.pop("api_key"))


        new_service_account = cls(
            id=id,
            object_=object_,
            name=name,
            role=role,
            created_at=created_at,
            api_key=api_key,
        )


        new_service_account.additional_properties = d
        return new_service_account

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
