from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import Literal, cast






T = TypeVar("T", bound="BradleyTerryOptions")



@_attrs_define
class BradleyTerryOptions:
    """ Bradley-Terry loss of pairs: without a reference model, so that `beta` has no effect.

        Attributes:
            type_ (Literal['bradley_terry'] | Unset): Selects the kind of the object. Default: 'bradley_terry'.
            margin (float | Unset): Nats by which the chosen completion must be more likely. Default: 0.0.
            length_normalised (bool | Unset): Compare means over tokens, not sums. Default: False.
     """

    type_: Literal['bradley_terry'] | Unset = 'bradley_terry'
    margin: float | Unset = 0.0
    length_normalised: bool | Unset = False





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        margin = self.margin

        length_normalised = self.length_normalised


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if type_ is not UNSET:
            field_dict["type"] = type_
        if margin is not UNSET:
            field_dict["margin"] = margin
        if length_normalised is not UNSET:
            field_dict["length_normalised"] = length_normalised

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['bradley_terry'] | Unset , d.pop("type", UNSET))
        if type_ != 'bradley_terry'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'bradley_terry', got '{type_}'")

        margin = d.pop("margin", UNSET)

        length_normalised = d.pop("length_normalised", UNSET)

        bradley_terry_options = cls(
            type_=type_,
            margin=margin,
            length_normalised=length_normalised,
        )

        return bradley_terry_options

