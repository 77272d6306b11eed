from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="OverlongOptions")



@_attrs_define
class OverlongOptions:
    """ A penalty that grows over the last `buffer` of `limit` sampled tokens of a rollout.

        Attributes:
            limit (int): Sampled tokens at which the penalty is complete.
            buffer (int | Literal['auto'] | Unset): Tokens; `auto` is a fifth of the limit. Default: 'auto'.
            penalty (float | Unset): Reward lost at the limit and beyond. Default: 1.0.
     """

    limit: int
    buffer: int | Literal['auto'] | Unset = 'auto'
    penalty: float | Unset = 1.0





    def to_dict(self) -> dict[str, Any]:
        limit = self.limit

        buffer: int | Literal['auto'] | Unset
        if isinstance(self.buffer, Unset):
            buffer = UNSET
        else:
            buffer = self.buffer

        penalty = self.penalty


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "limit": limit,
        })
        if buffer is not UNSET:
            field_dict["buffer"] = buffer
        if penalty is not UNSET:
            field_dict["penalty"] = penalty

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        limit = d.pop("limit")

        def _parse_buffer(data: object) -> int | Literal['auto'] | Unset:
            if isinstance(data, Unset):
                return data
            buffer_type_1 = cast(Literal['auto'] , data)
            if buffer_type_1 != 'auto':
                raise ValueError(f"buffer_type_1 must match const 'auto', got '{buffer_type_1}'")
            return buffer_type_1
            return cast(int | Literal['auto'] | Unset, data)

        buffer = _parse_buffer(d.pop("buffer", UNSET))


        penalty = d.pop("penalty", UNSET)

        overlong_options = cls(
            limit=limit,
            buffer=buffer,
            penalty=penalty,
        )

        return overlong_options

