from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import Literal, cast






T = TypeVar("T", bound="StudentDeleted")



@_attrs_define
class StudentDeleted:
    """ The confirmation that a student and its history are deleted.

        Attributes:
            name (str): Name for readers; it need not be unique.
            object_ (Literal['student.deleted']): Type of the object; each type has one constant value. Default:
                'student.deleted'.
            deleted (bool): True: the object is deleted. Default: True.
     """

    name: str
    object_: Literal['student.deleted'] = 'student.deleted'
    deleted: bool = True
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        name = self.name

        object_ = self.object_

        deleted = self.deleted


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
            "object": object_,
            "deleted": deleted,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        object_ = cast(Literal['student.deleted'] , d.pop("object"))
        if object_ != 'student.deleted':
            raise ValueError(f"object must match const 'student.deleted', got '{object_}'")

        deleted = d.pop("deleted")

        student_deleted = cls(
            name=name,
            object_=object_,
            deleted=deleted,
        )


        student_deleted.additional_properties = d
        return student_deleted

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
