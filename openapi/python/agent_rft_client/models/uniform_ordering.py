from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import Literal, cast






T = TypeVar("T", bound="UniformOrdering")



@_attrs_define
class UniformOrdering:
    """ Ordering `uniform`: each pass has every row once, in an order that the seed decides.

        Attributes:
            type_ (Literal['uniform'] | Unset): Selects the kind of the object. Default: 'uniform'.
     """

    type_: Literal['uniform'] | Unset = 'uniform'





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
        type_ = cast(Literal['uniform'] | Unset , d.pop("type", UNSET))
        if type_ != 'uniform'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'uniform', got '{type_}'")

        uniform_ordering = cls(
            type_=type_,
        )

        return uniform_ordering

