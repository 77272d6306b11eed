from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="FileObject")



@_attrs_define
class FileObject:
    """ A stored file, without its bytes.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['file']): Type of the object; each type has one constant value. Default: 'file'.
            bytes_ (int): Size in bytes.
            created_at (int): Unix seconds at which the object was made.
            filename (str): Name that the client sent.
            purpose (str): `fine-tune` for the rows of a job; a job's results have `fine-tune-results`.
            status (str): `processed`: the file can be used at once. Rows are checked when a job is made.
            expires_at (int | None): Unix seconds at which it expires; `null`: it does not expire.
            status_details (None | str): Always `null`.
     """

    id: str
    bytes_: int
    created_at: int
    filename: str
    purpose: str
    status: str
    expires_at: int | None
    status_details: None | str
    object_: Literal['file'] = 'file'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        bytes_ = self.bytes_

        created_at = self.created_at

        filename = self.filename

        purpose = self.purpose

        status = self.status

        expires_at: int | None
        expires_at = self.expires_at

        status_details: None | str
        status_details = self.status_details


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "bytes": bytes_,
            "created_at": created_at,
            "filename": filename,
            "purpose": purpose,
            "status": status,
            "expires_at": expires_at,
            "status_details": status_details,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['file'] , d.pop("object"))
        if object_ != 'file':
            raise ValueError(f"object must match const 'file', got '{object_}'")

        bytes_ = d.pop("bytes")

        created_at = d.pop("created_at")

        filename = d.pop("filename")

        purpose = d.pop("purpose")

        status = d.pop("status")

        def _parse_expires_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))


        def _parse_status_details(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        status_details = _parse_status_details(d.pop("status_details"))


        file_object = cls(
            id=id,
            object_=object_,
            bytes_=bytes_,
            created_at=created_at,
            filename=filename,
            purpose=purpose,
            status=status,
            expires_at=expires_at,
            status_details=status_details,
        )


        file_object.additional_properties = d
        return file_object

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
