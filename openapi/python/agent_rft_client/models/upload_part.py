from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import Literal, cast






T = TypeVar("T", bound="UploadPart")



@_attrs_define
class UploadPart:
    """ A part of an upload.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['upload.part']): Type of the object; each type has one constant value. Default: 'upload.part'.
            created_at (int): Unix seconds at which the object was made.
            upload_id (str): Id of the upload.
     """

    id: str
    created_at: int
    upload_id: str
    object_: Literal['upload.part'] = 'upload.part'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        created_at = self.created_at

        upload_id = self.upload_id


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "created_at": created_at,
            "upload_id": upload_id,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['upload.part'] , d.pop("object"))
        if object_ != 'upload.part':
            raise ValueError(f"object must match const 'upload.part', got '{object_}'")

        created_at = d.pop("created_at")

        upload_id = d.pop("upload_id")

        upload_part = cls(
            id=id,
            object_=object_,
            created_at=created_at,
            upload_id=upload_id,
        )


        upload_part.additional_properties = d
        return upload_part

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
