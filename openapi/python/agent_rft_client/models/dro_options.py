from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import Literal, cast






T = TypeVar("T", bound="DroOptions")



@_attrs_define
class DroOptions:
    """ DRO: a quadratic penalty on the distance from the sampling policy instead of clipping.

        Attributes:
            beta (float): Weight of the squared distance from the sampler; in published runs 0.01 to 0.05.
            type_ (Literal['dro'] | Unset): Selects the kind of the object. Default: 'dro'.
     """

    beta: float
    type_: Literal['dro'] | Unset = 'dro'





    def to_dict(self) -> dict[str, Any]:
        beta = self.beta

        type_ = self.type_


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "beta": beta,
        })
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        beta = d.pop("beta")

        type_ = cast(Literal['dro'] | Unset , d.pop("type", UNSET))
        if type_ != 'dro'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'dro', got '{type_}'")

        dro_options = cls(
            beta=beta,
            type_=type_,
        )

        return dro_options

