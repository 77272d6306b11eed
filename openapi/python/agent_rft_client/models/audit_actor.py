from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.audit_actor_type import AuditActorType
from ..models.audit_actor_type import check_audit_actor_type
from typing import cast

if TYPE_CHECKING:
  from ..models.audit_actor_key import AuditActorKey
  from ..models.audit_actor_session import AuditActorSession





T = TypeVar("T", bound="AuditActor")



@_attrs_define
class AuditActor:
    """ The actor of a change.

        Attributes:
            type_ (AuditActorType): `command_line`: a command of the operator on the machine of the service.
            api_key (AuditActorKey | None): The key, for the type `api_key`.
            session (AuditActorSession | None): The session, for the type `session`.
     """

    type_: AuditActorType
    api_key: AuditActorKey | None
    session: AuditActorSession | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.audit_actor_key import AuditActorKey # noqa: PLC0415
        from ..models.audit_actor_session import AuditActorSession # noqa: PLC0415
        type_: str = self.type_

        api_key: dict[str, Any] | None
        if isinstance(self.api_key, AuditActorKey):
            api_key = self.api_key.to_dict()
        else:
            api_key = self.api_key

        session: dict[str, Any] | None
        if isinstance(self.session, AuditActorSession):
            session = self.session.to_dict()
        else:
            session = self.session


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
            "api_key": api_key,
            "session": session,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.audit_actor_key import AuditActorKey # noqa: PLC0415
        from ..models.audit_actor_session import AuditActorSession # noqa: PLC0415
        d = dict(src_dict)
        type_ = check_audit_actor_type(d.pop("type"))




        def _parse_api_key(data: object) -> AuditActorKey | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                api_key_type_0 = AuditActorKey.from_dict(data)



                return api_key_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AuditActorKey | None, data)

        api_key = _parse_api_key(d.pop("api_key"))


        def _parse_session(data: object) -> AuditActorSession | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                session_type_0 = AuditActorSession.from_dict(data)



                return session_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AuditActorSession | None, data)

        session = _parse_session(d.pop("session"))


        audit_actor = cls(
            type_=type_,
            api_key=api_key,
            session=session,
        )


        audit_actor.additional_properties = d
        return audit_actor

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
