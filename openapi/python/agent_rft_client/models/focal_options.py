from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import Literal, cast






T = TypeVar("T", bound="FocalOptions")



@_attrs_define
class FocalOptions:
    """ Focal loss: tokens with a high probability weigh less.

        Attributes:
            type_ (Literal['focal'] | Unset): Selects the kind of the object. Default: 'focal'.
            gamma (float | Unset): Exponent that lowers the weight of tokens with a high probability; 0 is cross-entropy.
                Default: 2.0.
     """

    type_: Literal['focal'] | Unset = 'focal'
    gamma: float | Unset = 2.0





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        gamma = self.gamma


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if type_ is not UNSET:
            field_dict["type"] = type_
        if gamma is not UNSET:
            field_dict["gamma"] = gamma

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['focal'] | Unset , d.pop("type", UNSET))
        if type_ != 'focal'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'focal', got '{type_}'")

        gamma = d.pop("gamma", UNSET)

        focal_options = cls(
            type_=type_,
            gamma=gamma,
        )

        return focal_options

