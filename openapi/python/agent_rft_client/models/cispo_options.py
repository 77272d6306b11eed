from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import Literal, cast






T = TypeVar("T", bound="CispoOptions")



@_attrs_define
class CispoOptions:
    """ CISPO: clips the weight of each token and keeps its gradient.

        Attributes:
            type_ (Literal['cispo'] | Unset): Selects the kind of the object. Default: 'cispo'.
            low (float | Unset): Lower bound of the ratio by which a token is weighted. Default: 0.0.
            high (float | Unset): Upper bound of the ratio by which a token is weighted. Default: 4.0.
     """

    type_: Literal['cispo'] | Unset = 'cispo'
    low: float | Unset = 0.0
    high: float | Unset = 4.0





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        low = self.low

        high = self.high


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if type_ is not UNSET:
            field_dict["type"] = type_
        if low is not UNSET:
            field_dict["low"] = low
        if high is not UNSET:
            field_dict["high"] = high

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['cispo'] | Unset , d.pop("type", UNSET))
        if type_ != 'cispo'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'cispo', got '{type_}'")

        low = d.pop("low", UNSET)

        high = d.pop("high", UNSET)

        cispo_options = cls(
            type_=type_,
            low=low,
            high=high,
        )

        return cispo_options

