from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import Literal, cast






T = TypeVar("T", bound="StreamingOptions")



@_attrs_define
class StreamingOptions:
    """ Mode `streaming`: gradients are computed while the step is still sampled; it stays on-
    policy.

        Attributes:
            type_ (Literal['streaming'] | Unset): Selects the kind of the object. Default: 'streaming'.
            minibatches (int | Unset): Parts of a step, each trained once its groups have finished; at most one part per
                prompt. The optimizer steps once, after the last part. Default: 4.
     """

    type_: Literal['streaming'] | Unset = 'streaming'
    minibatches: int | Unset = 4





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        minibatches = self.minibatches


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if type_ is not UNSET:
            field_dict["type"] = type_
        if minibatches is not UNSET:
            field_dict["minibatches"] = minibatches

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['streaming'] | Unset , d.pop("type", UNSET))
        if type_ != 'streaming'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'streaming', got '{type_}'")

        minibatches = d.pop("minibatches", UNSET)

        streaming_options = cls(
            type_=type_,
            minibatches=minibatches,
        )

        return streaming_options

