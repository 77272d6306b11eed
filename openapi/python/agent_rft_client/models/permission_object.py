from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import Literal, cast






T = TypeVar("T", bound="PermissionObject")



@_attrs_define
class PermissionObject:
    """ A project's permission to call a checkpoint.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['checkpoint.permission']): Type of the object; each type has one constant value. Default:
                'checkpoint.permission'.
            created_at (int): Unix seconds at which the object was made.
            project_id (str): Id of the project.
     """

    id: str
    created_at: int
    project_id: str
    object_: Literal['checkpoint.permission'] = 'checkpoint.permission'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        created_at = self.created_at

        project_id = self.project_id


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "created_at": created_at,
            "project_id": project_id,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['checkpoint.permission'] , d.pop("object"))
        if object_ != 'checkpoint.permission':
            raise ValueError(f"object must match const 'checkpoint.permission', got '{object_}'")

        created_at = d.pop("created_at")

        project_id = d.pop("project_id")

        permission_object = cls(
            id=id,
            object_=object_,
            created_at=created_at,
            project_id=project_id,
        )


        permission_object.additional_properties = d
        return permission_object

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
