from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.project_key_object_owner_project_access import check_project_key_object_owner_project_access
from ..models.project_key_object_owner_project_access import ProjectKeyObjectOwnerProjectAccess
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.owned_by_service_account import OwnedByServiceAccount
  from ..models.owned_by_user import OwnedByUser





T = TypeVar("T", bound="ProjectKeyObject")



@_attrs_define
class ProjectKeyObject:
    """ A key of a project, without its value.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['organization.project.api_key']): Type of the object; each type has one constant value.
                Default: 'organization.project.api_key'.
            name (str): Name for readers; it need not be unique.
            redacted_value (str): A part of the key, by which an owner recognises it.
            created_at (int): Unix seconds at which the object was made.
            expires_at (int | None): Unix seconds at which it expires; `null`: it does not expire.
            last_used_at (int | None): Time of the last use, to the minute.
            owner (OwnedByServiceAccount | OwnedByUser): The service account, or the organization for keys of its operator.
            owner_project_access (ProjectKeyObjectOwnerProjectAccess): `inactive` while the project is archived.
     """

    id: str
    name: str
    redacted_value: str
    created_at: int
    expires_at: int | None
    last_used_at: int | None
    owner: OwnedByServiceAccount | OwnedByUser
    owner_project_access: ProjectKeyObjectOwnerProjectAccess
    object_: Literal['organization.project.api_key'] = 'organization.project.api_key'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.owned_by_service_account import OwnedByServiceAccount # noqa: PLC0415
        from ..models.owned_by_user import OwnedByUser # noqa: PLC0415
        id = self.id

        object_ = self.object_

        name = self.name

        redacted_value = self.redacted_value

        created_at = self.created_at

        expires_at: int | None
        expires_at = self.expires_at

        last_used_at: int | None
        last_used_at = self.last_used_at

        owner: dict[str, Any]
        if isinstance(self.owner, OwnedByServiceAccount):
            owner = self.owner.to_dict()
        else:
            owner = self.owner.to_dict()


        owner_project_access: str = self.owner_project_access


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
            "owner_project_access": owner_project_access,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.owned_by_service_account import OwnedByServiceAccount # noqa: PLC0415
        from ..models.owned_by_user import OwnedByUser # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['organization.project.api_key'] , d.pop("object"))
        if object_ != 'organization.project.api_key':
            raise ValueError(f"object must match const 'organization.project.api_key', got '{object_}'")

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


        def _parse_owner(data: object) -> OwnedByServiceAccount | OwnedByUser:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                owner_type_0 = OwnedByServiceAccount.from_dict(data)



                return owner_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            owner_type_1 = OwnedByUser.from_dict(data)



            return owner_type_1

        owner = _parse_owner(d.pop("owner"))


        owner_project_access = check_project_key_object_owner_project_access(d.pop("owner_project_access"))




        project_key_object = cls(
            id=id,
            object_=object_,
            name=name,
            redacted_value=redacted_value,
            created_at=created_at,
            expires_at=expires_at,
            last_used_at=last_used_at,
            owner=owner,
            owner_project_access=owner_project_access,
        )


        project_key_object.additional_properties = d
        return project_key_object

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
