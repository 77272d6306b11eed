from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.audit_actor_user import AuditActorUser





T = TypeVar("T", bound="AuditActorSession")



@_attrs_define
class AuditActorSession:
    """ A session of the dashboard.

        Attributes:
            user (AuditActorUser): The user of a session. The service has no users: it is the session's API key.
            ip_address (str): Address that the change came from.
     """

    user: AuditActorUser
    ip_address: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.audit_actor_user import AuditActorUser # noqa: PLC0415
        user = self.user.to_dict()

        ip_address = self.ip_address


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "user": user,
            "ip_address": ip_address,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.audit_actor_user import AuditActorUser # noqa: PLC0415
        d = dict(src_dict)
        user = AuditActorUser.from_dict(d.pop("user"))




        ip_address = d.pop("ip_address")

        audit_actor_session = cls(
            user=user,
            ip_address=ip_address,
        )


        audit_actor_session.additional_properties = d
        return audit_actor_session

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
