from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset






T = TypeVar("T", bound="RotateWebhookSecret")



@_attrs_define
class RotateWebhookSecret:
    """ Options of a new signing secret.

        Attributes:
            keep_old_secret_active_for_24_hours (bool | Unset): True signs with both secrets for a day. Default: False.
     """

    keep_old_secret_active_for_24_hours: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        keep_old_secret_active_for_24_hours = self.keep_old_secret_active_for_24_hours


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if keep_old_secret_active_for_24_hours is not UNSET:
            field_dict["keep_old_secret_active_for_24_hours"] = keep_old_secret_active_for_24_hours

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        keep_old_secret_active_for_24_hours = d.pop("keep_old_secret_active_for_24_hours", UNSET)

        rotate_webhook_secret = cls(
            keep_old_secret_active_for_24_hours=keep_old_secret_active_for_24_hours,
        )


        rotate_webhook_secret.additional_properties = d
        return rotate_webhook_secret

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
