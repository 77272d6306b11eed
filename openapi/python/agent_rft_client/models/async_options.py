from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import Literal, cast






T = TypeVar("T", bound="AsyncOptions")



@_attrs_define
class AsyncOptions:
    """ Mode `async`: sampling continues while a step is trained, from versions at most
    `max_staleness` old.

        Attributes:
            type_ (Literal['async'] | Unset): Selects the kind of the object. Default: 'async'.
            max_staleness (int | Unset): Published versions that a rollout may be behind, from its dispatch to its training.
                Default: 1.
            max_requeues (int | Unset): Number of times a straggler prompt is requeued before the scheduler waits for it.
                Default: 2.
     """

    type_: Literal['async'] | Unset = 'async'
    max_staleness: int | Unset = 1
    max_requeues: int | Unset = 2





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        max_staleness = self.max_staleness

        max_requeues = self.max_requeues


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if type_ is not UNSET:
            field_dict["type"] = type_
        if max_staleness is not UNSET:
            field_dict["max_staleness"] = max_staleness
        if max_requeues is not UNSET:
            field_dict["max_requeues"] = max_requeues

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['async'] | Unset , d.pop("type", UNSET))
        if type_ != 'async'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'async', got '{type_}'")

        max_staleness = d.pop("max_staleness", UNSET)

        max_requeues = d.pop("max_requeues", UNSET)

        async_options = cls(
            type_=type_,
            max_staleness=max_staleness,
            max_requeues=max_requeues,
        )

        return async_options

