from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import Literal, cast






T = TypeVar("T", bound="ExpiresAfter")



@_attrs_define
class ExpiresAfter:
    """ The time after which a file is deleted.

        Attributes:
            anchor (Literal['created_at']): The time from which the seconds count.
            seconds (int): Seconds until the file is deleted.
     """

    anchor: Literal['created_at']
    seconds: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        anchor = self.anchor

        seconds = self.seconds


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "anchor": anchor,
            "seconds": seconds,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        anchor = cast(Literal['created_at'] , d.pop("anchor"))
        if anchor != 'created_at':
            raise ValueError(f"anchor must match const 'created_at', got '{anchor}'")

        seconds = d.pop("seconds")

        expires_after = cls(
            anchor=anchor,
            seconds=seconds,
        )


        expires_after.additional_properties = d
        return expires_after

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
