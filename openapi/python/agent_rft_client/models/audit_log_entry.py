from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.audit_actor import AuditActor
  from ..models.audit_project import AuditProject





T = TypeVar("T", bound="AuditLogEntry")



@_attrs_define
class AuditLogEntry:
    """ A change. It has one more field, named like its `type`: the `id` of what was changed, with
    the `data` of a new object or the `changes_requested` of another one.

        Attributes:
            id (str): Id of the object.
            type_ (str): The kind of the change, such as `project.created`.
            effective_at (int): Unix seconds of the change.
            project (AuditProject | None): The project; absent for a change of the organization.
            actor (AuditActor): The actor of a change.
     """

    id: str
    type_: str
    effective_at: int
    project: AuditProject | None
    actor: AuditActor
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.audit_actor import AuditActor # noqa: PLC0415
        from ..models.audit_project import AuditProject # noqa: PLC0415
        id = self.id

        type_ = self.type_

        effective_at = self.effective_at

        project: dict[str, Any] | None
        if isinstance(self.project, AuditProject):
            project = self.project.to_dict()
        else:
            project = self.project

        actor = self.actor.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "type": type_,
            "effective_at": effective_at,
            "project": project,
            "actor": actor,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.audit_actor import AuditActor # noqa: PLC0415
        from ..models.audit_project import AuditProject # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        type_ = d.pop("type")

        effective_at = d.pop("effective_at")

        def _parse_project(data: object) -> AuditProject | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                project_type_0 = AuditProject.from_dict(data)



                return project_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AuditProject | None, data)

        project = _parse_project(d.pop("project"))


        actor = AuditActor.from_dict(d.pop("actor"))




        audit_log_entry = cls(
            id=id,
            type_=type_,
            effective_at=effective_at,
            project=project,
            actor=actor,
        )


        audit_log_entry.additional_properties = d
        return audit_log_entry

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
