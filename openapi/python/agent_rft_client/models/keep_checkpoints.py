from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset






T = TypeVar("T", bound="KeepCheckpoints")



@_attrs_define
class KeepCheckpoints:
    """ Number of checkpoints that a job keeps; a dropped one disappears with its model.

    A checkpoint that is shared with another project, or that an unfinished job trains from, is kept
    beside them.

        Attributes:
            best (int | Unset): Number of the best checkpoints by validation; of equals the earlier one counts as better.
                The job publishes the best. Default: 3.
            last (int | Unset): Number of the newest checkpoints, kept whatever their validation. Default: 1.
     """

    best: int | Unset = 3
    last: int | Unset = 1





    def to_dict(self) -> dict[str, Any]:
        best = self.best

        last = self.last


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if best is not UNSET:
            field_dict["best"] = best
        if last is not UNSET:
            field_dict["last"] = last

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        best = d.pop("best", UNSET)

        last = d.pop("last", UNSET)

        keep_checkpoints = cls(
            best=best,
            last=last,
        )

        return keep_checkpoints

