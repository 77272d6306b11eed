from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.expires_after import ExpiresAfter





T = TypeVar("T", bound="CreateUpload")



@_attrs_define
class CreateUpload:
    """ A new upload: the file that its parts will make.

        Attributes:
            filename (str): Name of the file.
            purpose (str): Purpose of the file, such as `fine-tune`.
            bytes_ (int): Size of the whole file.
            mime_type (str): Media type of the file.
            expires_after (ExpiresAfter | None | Unset): Time at which the service deletes the file; absent: it does not.
     """

    filename: str
    purpose: str
    bytes_: int
    mime_type: str
    expires_after: ExpiresAfter | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.expires_after import ExpiresAfter # noqa: PLC0415
        filename = self.filename

        purpose = self.purpose

        bytes_ = self.bytes_

        mime_type = self.mime_type

        expires_after: dict[str, Any] | None | Unset
        if isinstance(self.expires_after, Unset):
            expires_after = UNSET
        elif isinstance(self.expires_after, ExpiresAfter):
            expires_after = self.expires_after.to_dict()
        else:
            expires_after = self.expires_after


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "filename": filename,
            "purpose": purpose,
            "bytes": bytes_,
            "mime_type": mime_type,
        })
        if expires_after is not UNSET:
            field_dict["expires_after"] = expires_after

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.expires_after import ExpiresAfter # noqa: PLC0415
        d = dict(src_dict)
        filename = d.pop("filename")

        purpose = d.pop("purpose")

        bytes_ = d.pop("bytes")

        mime_type = d.pop("mime_type")

        def _parse_expires_after(data: object) -> ExpiresAfter | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                expires_after_type_0 = ExpiresAfter.from_dict(data)



                return expires_after_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ExpiresAfter | None | Unset, data)

        expires_after = _parse_expires_after(d.pop("expires_after", UNSET))


        create_upload = cls(
            filename=filename,
            purpose=purpose,
            bytes_=bytes_,
            mime_type=mime_type,
            expires_after=expires_after,
        )


        create_upload.additional_properties = d
        return create_upload

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
