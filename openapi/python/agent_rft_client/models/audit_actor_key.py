from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.audit_actor_key_type import AuditActorKeyType
from ..models.audit_actor_key_type import check_audit_actor_key_type
from typing import cast

if TYPE_CHECKING:
  from ..models.audit_actor_account import AuditActorAccount





T = TypeVar("T", bound="AuditActorKey")



@_attrs_define
class AuditActorKey:
    """ An API key.

        Attributes:
            id (str): Id of the object.
            type_ (AuditActorKeyType): `service_account` for a key of a service account.
            service_account (AuditActorAccount | None): The service account of the key.
            ip_address (str): Address that the change came from.
     """

    id: str
    type_: AuditActorKeyType
    service_account: AuditActorAccount | None
    ip_address: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.audit_actor_account import AuditActorAccount # noqa: PLC0415
        id = self.id

        type_: str = self.type_

        service_account: dict[str, Any] | None
        if isinstance(self.service_account, AuditActorAccount):
            service_account = self.service_account.to_dict()
        else:
            service_account = self.service_account

        ip_address = self.ip_address


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "type": type_,
            "service_account": service_account,
            "ip_address": ip_address,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.audit_actor_account import AuditActorAccount # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        type_ = check_audit_actor_key_type(d.pop("type"))




        def _parse_service_account(data: object) -> AuditActorAccount | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                service_account_type_0 = AuditActorAccount.from_dict(data)



                return service_account_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AuditActorAccount | None, data)

        service_account = _parse_service_account(d.pop("service_account"))


        ip_address = d.pop("ip_address")

        audit_actor_key = cls(
            id=id,
            type_=type_,
            service_account=service_account,
            ip_address=ip_address,
        )


        audit_actor_key.additional_properties = d
        return audit_actor_key

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
