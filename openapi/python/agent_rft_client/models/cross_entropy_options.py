from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import Literal, cast






T = TypeVar("T", bound="CrossEntropyOptions")



@_attrs_define
class CrossEntropyOptions:
    """ Cross-entropy of the target tokens.

        Attributes:
            type_ (Literal['cross_entropy'] | Unset): Selects the kind of the object. Default: 'cross_entropy'.
     """

    type_: Literal['cross_entropy'] | Unset = 'cross_entropy'





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['cross_entropy'] | Unset , d.pop("type", UNSET))
        if type_ != 'cross_entropy'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'cross_entropy', got '{type_}'")

        cross_entropy_options = cls(
            type_=type_,
        )

        return cross_entropy_options

