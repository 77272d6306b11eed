from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field
import json
from .. import types

from ..types import UNSET, Unset

from ..models.create_file_body_expires_afteranchor import check_create_file_body_expires_afteranchor
from ..models.create_file_body_expires_afteranchor import CreateFileBodyExpiresAfteranchor
from ..models.create_file_body_purpose import check_create_file_body_purpose
from ..models.create_file_body_purpose import CreateFileBodyPurpose
from ..types import File, FileTypes
from ..types import UNSET, Unset
from io import BytesIO
from typing import cast






T = TypeVar("T", bound="CreateFileBody")



@_attrs_define
class CreateFileBody:
    """ 
        Attributes:
            file (File): The file.
            purpose (CreateFileBodyPurpose): `fine-tune` for the rows of a job.
            expires_afteranchor (CreateFileBodyExpiresAfteranchor | Unset): The time from which the seconds count.
            expires_afterseconds (int | Unset): Seconds until the file is deleted; absent: never.
     """

    file: File
    purpose: CreateFileBodyPurpose
    expires_afteranchor: CreateFileBodyExpiresAfteranchor | Unset = UNSET
    expires_afterseconds: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        file = self.file.to_tuple()


        purpose: str = self.purpose

        expires_afteranchor: str | Unset = UNSET
        if not isinstance(self.expires_afteranchor, Unset):
            expires_afteranchor = self.expires_afteranchor


        expires_afterseconds = self.expires_afterseconds


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "file": file,
            "purpose": purpose,
        })
        if expires_afteranchor is not UNSET:
            field_dict["expires_after[anchor]"] = expires_afteranchor
        if expires_afterseconds is not UNSET:
            field_dict["expires_after[seconds]"] = expires_afterseconds

        return field_dict


    def to_multipart(self) -> types.RequestFiles:
        files: types.RequestFiles = []

        files.append(("file", self.file.to_tuple()))



        files.append(("purpose", (None, str(self.purpose).encode(), "text/plain")))



        if not isinstance(self.expires_afteranchor, Unset):
            files.append(("expires_after[anchor]", (None, str(self.expires_afteranchor).encode(), "text/plain")))



        if not isinstance(self.expires_afterseconds, Unset):
            files.append(("expires_after[seconds]", (None, str(self.expires_afterseconds).encode(), "text/plain")))




        for prop_name, prop in self.additional_properties.items():
            files.append((prop_name, (None, str(prop).encode(), "text/plain")))



        return files


    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        file = File(
             payload = BytesIO(d.pop("file"))
        )




        purpose = check_create_file_body_purpose(d.pop("purpose"))




        _expires_afteranchor = d.pop("expires_after[anchor]", UNSET)
        expires_afteranchor: CreateFileBodyExpiresAfteranchor | Unset
        if isinstance(_expires_afteranchor,  Unset):
            expires_afteranchor = UNSET
        else:
            expires_afteranchor = check_create_file_body_expires_afteranchor(_expires_afteranchor)




        expires_afterseconds = d.pop("expires_after[seconds]", UNSET)

        create_file_body = cls(
            file=file,
            purpose=purpose,
            expires_afteranchor=expires_afteranchor,
            expires_afterseconds=expires_afterseconds,
        )


        create_file_body.additional_properties = d
        return create_file_body

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
