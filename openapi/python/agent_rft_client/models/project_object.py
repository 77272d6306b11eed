from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.project_object_status import check_project_object_status
from ..models.project_object_status import ProjectObjectStatus
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="ProjectObject")



@_attrs_define
class ProjectObject:
    """ A project: the owner of files, jobs, models and keys.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['organization.project']): Type of the object; each type has one constant value. Default:
                'organization.project'.
            name (str): Name for readers; it need not be unique.
            created_at (int): Unix seconds at which the object was made.
            archived_at (int | None): Unix seconds at which it was archived; `null` while it is active.
            status (ProjectObjectStatus): An archived project runs no new jobs.
            external_key_id (None): Always `null`.
     """

    id: str
    name: str
    created_at: int
    archived_at: int | None
    status: ProjectObjectStatus
    external_key_id: None
    object_: Literal['organization.project'] = 'organization.project'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        name = self.name

        created_at = self.created_at

        archived_at: int | None
        archived_at = self.archived_at

        status: str = self.status

        external_key_id = self.external_key_id


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "name": name,
            "created_at": created_at,
            "archived_at": archived_at,
            "status": status,
            "external_key_id": external_key_id,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['organization.project'] , d.pop("object"))
        if object_ != 'organization.project':
            raise ValueError(f"object must match const 'organization.project', got '{object_}'")

        name = d.pop("name")

        created_at = d.pop("created_at")

        def _parse_archived_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        archived_at = _parse_archived_at(d.pop("archived_at"))


        status = check_project_object_status(d.pop("status"))




        external_key_id = d.pop("external_key_id")

        project_object = cls(
            id=id,
            object_=object_,
            name=name,
            created_at=created_at,
            archived_at=archived_at,
            status=status,
            external_key_id=external_key_id,
        )


        project_object.additional_properties = d
        return project_object

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
