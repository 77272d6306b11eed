from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import Literal, cast






T = TypeVar("T", bound="ProductMask")



@_attrs_define
class ProductMask:
    """ Leaves out rollouts whose ratios' product lies outside the band: by default, above 3.

        Attributes:
            low (float | Unset): Lower end of the band. Default: 0.0.
            high (float | Unset): Upper end of the band. Default: 3.0.
            type_ (Literal['product'] | Unset): Selects the kind of the object. Default: 'product'.
     """

    low: float | Unset = 0.0
    high: float | Unset = 3.0
    type_: Literal['product'] | Unset = 'product'





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

        type_ = cast(Literal['product'] | Unset , d.pop("type", UNSET))
        if type_ != 'product'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'product', got '{type_}'")

        product_mask = cls(
            low=low,
            high=high,
            type_=type_,
        )

        return product_mask

