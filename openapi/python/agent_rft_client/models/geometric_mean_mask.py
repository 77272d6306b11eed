from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import Literal, cast






T = TypeVar("T", bound="GeometricMeanMask")



@_attrs_define
class GeometricMeanMask:
    """ Leaves out rollouts whose ratios' geometric mean lies outside the band.

        Attributes:
            low (float | Unset): Lower end of the band. Default: 0.99.
            high (float | Unset): Upper end of the band. Default: 1.01.
            type_ (Literal['geometric_mean'] | Unset): Selects the kind of the object. Default: 'geometric_mean'.
     """

    low: float | Unset = 0.99
    high: float | Unset = 1.01
    type_: Literal['geometric_mean'] | Unset = 'geometric_mean'





    def to_dict(self) -> dict[str, Any]:
        low = self.low

        high = self.high

        type_ = self.type_


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if low is not UNSET:
            field_dict["low"] = low
        if high is not UNSET:
            field_dict["high"] = high
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        low = d.pop("low", UNSET)

        high = d.pop("high", UNSET)

        type_ = cast(Literal['geometric_mean'] | Unset , d.pop("type", UNSET))
        if type_ != 'geometric_mean'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'geometric_mean', got '{type_}'")

        geometric_mean_mask = cls(
            low=low,
            high=high,
            type_=type_,
        )

        return geometric_mean_mask

