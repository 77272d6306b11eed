from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="CreateServiceAccount")



@_attrs_define
class CreateServiceAccount:
    """ A new service account, with or without a first key.

        Attributes:
            name (str): Name for readers; it need not be unique.
            create_service_account_only (bool | None | Unset): True makes no key, so the account has no role yet.
            expires_in_seconds (int | None | Unset): Seconds until its first key expires; absent: it does not expire.
     """

    name: str
    create_service_account_only: bool | None | Unset = UNSET
    expires_in_seconds: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        name = self.name

        create_service_account_only: bool | None | Unset
        if isinstance(self.create_service_account_only, Unset):
            create_service_account_only = UNSET
        else:
            create_service_account_only = self.create_service_account_only

        expires_in_seconds: int | None | Unset
        if isinstance(self.expires_in_seconds, Unset):
            expires_in_seconds = UNSET
        else:
            expires_in_seconds = self.expires_in_seconds


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
        })
        if create_service_account_only is not UNSET:
            field_dict["create_service_account_only"] = create_service_account_only
        if expires_in_seconds is not UNSET:
            field_dict["expires_in_seconds"] = expires_in_seconds

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        def _parse_create_service_account_only(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        create_service_account_only = _parse_create_service_account_only(d.pop("create_service_account_only", UNSET))


        def _parse_expires_in_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        expires_in_seconds = _parse_expires_in_seconds(d.pop("expires_in_seconds", UNSET))


        create_service_account = cls(
            name=name,
            create_service_account_only=create_service_account_only,
            expires_in_seconds=expires_in_seconds,
        )


        create_service_account.additional_properties = d
        return create_service_account

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
