from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.owner_service_account import OwnerServiceAccount





T = TypeVar("T", bound="OwnedByServiceAccount")



@_attrs_define
class OwnedByServiceAccount:
    """ Ownership of a key by a service account.

        Attributes:
            type_ (Literal['service_account']): Selects the kind of the object. Default: 'service_account'.
            service_account (OwnerServiceAccount): The service account that owns a key.
     """

    service_account: OwnerServiceAccount
    type_: Literal['service_account'] = 'service_account'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.owner_service_account import OwnerServiceAccount # noqa: PLC0415
        type_ = self.type_

        service_account = self.service_account.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
            "service_account": service_account,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.owner_service_account import OwnerServiceAccount # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['service_account'] , d.pop("type"))
        if type_ != 'service_account':
            raise ValueError(f"type must match const 'service_account', got '{type_}'")

        service_account = OwnerServiceAccount.from_dict(d.pop("service_account"))




        owned_by_service_account = cls(
            type_=type_,
            service_account=service_account,
        )


        owned_by_service_account.additional_properties = d
        return owned_by_service_account

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
