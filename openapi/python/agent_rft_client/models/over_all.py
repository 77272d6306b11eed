from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast






T = TypeVar("T", bound="OverAll")



@_attrs_define
class OverAll:
    """ A mean over all held-out rows, weighed by tokens as the curve is.

        Attributes:
            base (float | None): The base model's own; `null` where it was not measured.
            start (float | None): The mean under the model that training started from.
            tuned (float | None): The mean under the published model.
     """

    base: float | None
    start: float | None
    tuned: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        base: float | None
        base = self.base

        start: float | None
        start = self.start

        tuned: float | None
        tuned = self.tuned


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "base": base,
            "start": start,
            "tuned": tuned,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_base(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        base = _parse_base(d.pop("base"))


        def _parse_start(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        start = _parse_start(d.pop("start"))


        def _parse_tuned(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        tuned = _parse_tuned(d.pop("tuned"))


        over_all = cls(
            base=base,
            start=start,
            tuned=tuned,
        )


        over_all.additional_properties = d
        return over_all

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
