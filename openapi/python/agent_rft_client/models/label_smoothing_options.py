from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import Literal, cast






T = TypeVar("T", bound="LabelSmoothingOptions")



@_attrs_define
class LabelSmoothingOptions:
    """ Cross-entropy against targets that are smoothed over the vocabulary.

        Attributes:
            type_ (Literal['label_smoothing'] | Unset): Selects the kind of the object. Default: 'label_smoothing'.
            smoothing (float | Unset): Share of each target that is spread evenly over the vocabulary. Default: 0.1.
     """

    type_: Literal['label_smoothing'] | Unset = 'label_smoothing'
    smoothing: float | Unset = 0.1





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        smoothing = self.smoothing


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if type_ is not UNSET:
            field_dict["type"] = type_
        if smoothing is not UNSET:
            field_dict["smoothing"] = smoothing

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['label_smoothing'] | Unset , d.pop("type", UNSET))
        if type_ != 'label_smoothing'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'label_smoothing', got '{type_}'")

        smoothing = d.pop("smoothing", UNSET)

        label_smoothing_options = cls(
            type_=type_,
            smoothing=smoothing,
        )

        return label_smoothing_options

