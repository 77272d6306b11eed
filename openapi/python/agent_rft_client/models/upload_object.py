from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.upload_object_status import check_upload_object_status
from ..models.upload_object_status import UploadObjectStatus
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.file_object import FileObject





T = TypeVar("T", bound="UploadObject")



@_attrs_define
class UploadObject:
    """ An upload: a file that arrives in parts.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['upload']): Type of the object; each type has one constant value. Default: 'upload'.
            bytes_ (int): Size of the whole file.
            created_at (int): Unix seconds at which the object was made.
            expires_at (int): Unix seconds at which an incomplete upload is given up.
            filename (str): Name of the file.
            purpose (str): Purpose of the file.
            status (UploadObjectStatus): State of the upload.
            file (FileObject | None): The file, once the upload is complete.
     """

    id: str
    bytes_: int
    created_at: int
    expires_at: int
    filename: str
    purpose: str
    status: UploadObjectStatus
    file: FileObject | None
    object_: Literal['upload'] = 'upload'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.file_object import FileObject # noqa: PLC0415
        id = self.id

        object_ = self.object_

        bytes_ = self.bytes_

        created_at = self.created_at

        expires_at = self.expires_at

        filename = self.filename

        purpose = self.purpose

        status: str = self.status

        file: dict[str, Any] | None
        if isinstance(self.file, FileObject):
            file = self.file.to_dict()
        else:
            file = self.file


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "bytes": bytes_,
            "created_at": created_at,
            "expires_at": expires_at,
            "filename": filename,
            "purpose": purpose,
            "status": status,
            "file": file,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.file_object import FileObject # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['upload'] , d.pop("object"))
        if object_ != 'upload':
            raise ValueError(f"object must match const 'upload', got '{object_}'")

        bytes_ = d.pop("bytes")

        created_at = d.pop("created_at")

        expires_at = d.pop("expires_at")

        filename = d.pop("filename")

        purpose = d.pop("purpose")

        status = check_upload_object_status(d.pop("status"))




        def _parse_file(data: object) -> FileObject | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                file_type_0 = FileObject.from_dict(data)



                return file_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FileObject | None, data)

        file = _parse_file(d.pop("file"))


        upload_object = cls(
            id=id,
            object_=object_,
            bytes_=bytes_,
            created_at=created_at,
            expires_at=expires_at,
            filename=filename,
            purpose=purpose,
            status=status,
            file=file,
        )


        upload_object.additional_properties = d
        return upload_object

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
