from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="OverAll")



@_attrs_define
class OverAll:
    """ A mean over all held-out rows, weighed by tokens as the curve is.

        Attributes:
            base (float | None | Unset): The mean under the base model; `null` if it was not measured.
            start (float | None | Unset): The mean under the model that training started from.
            tuned (float | None | Unset): The mean under the published model.
     """

    base: float | None | Unset = UNSET
    start: float | None | Unset = UNSET
    tuned: float | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        base: float | None | Unset
        if isinstance(self.base, Unset):
            base = UNSET
        else:
            base = self.base

        start: float | None | Unset
        if isinstance(self.start, Unset):
            start = UNSET
        else:
            start = self.start

        tuned: float | None | Unset
        if isinstance(self.tuned, Unset):
            tuned = UNSET
        else:
            tuned = self.tuned


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if base is not UNSET:
            field_dict["base"] = base
        if start is not UNSET:
            field_dict["start"] = start
        if tuned is not UNSET:
            field_dict["tuned"] = tuned

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_base(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        base = _parse_base(d.pop("base", UNSET))


        def _parse_start(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        start = _parse_start(d.pop("start", UNSET))


        def _parse_tuned(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        tuned = _parse_tuned(d.pop("tuned", UNSET))


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
