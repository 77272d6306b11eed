from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.owner_user import OwnerUser





T = TypeVar("T", bound="OwnedByUser")



@_attrs_define
class OwnedByUser:
    """ Ownership of a key by the organization, in the hosted form of a user.

        Attributes:
            type_ (Literal['user']): Selects the kind of the object. Default: 'user'.
            user (OwnerUser): The organization, as owner of a key that its operator created; the service has no users.
     """

    user: OwnerUser
    type_: Literal['user'] = 'user'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.owner_user import OwnerUser # noqa: PLC0415
        type_ = self.type_

        user = self.user.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
            "user": user,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.owner_user import OwnerUser # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['user'] , d.pop("type"))
        if type_ != 'user':
            raise ValueError(f"type must match const 'user', got '{type_}'")

        user = OwnerUser.from_dict(d.pop("user"))




        owned_by_user = cls(
            type_=type_,
            user=user,
        )


        owned_by_user.additional_properties = d
        return owned_by_user

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
