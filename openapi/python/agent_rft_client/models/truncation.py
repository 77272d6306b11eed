from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.truncation_level import check_truncation_level
from ..models.truncation_level import TruncationLevel
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="Truncation")



@_attrs_define
class Truncation:
    """ Weighs each token by its ratio of trained to sampling policy, at most `cap`; the loss's own
    ratio is then relative to the policy before the step.

        Attributes:
            cap (float): Default: 2 for tokens and 5 for sequences.
            level (TruncationLevel | Unset): The ratio of each token, or the product over its rollout. Default: 'token'.
     """

    cap: float
    level: TruncationLevel | Unset = 'token'





    def to_dict(self) -> dict[str, Any]:
        cap = self.cap

        level: str | Unset = UNSET
        if not isinstance(self.level, Unset):
            level = self.level



        field_dict: dict[str, Any] = {}

        field_dict.update({
            "cap": cap,
        })
        if level is not UNSET:
            field_dict["level"] = level

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        cap = d.pop("cap")

        _level = d.pop("level", UNSET)
        level: TruncationLevel | Unset
        if isinstance(_level,  Unset):
            level = UNSET
        else:
            level = check_truncation_level(_level)




        truncation = cls(
            cap=cap,
            level=level,
        )

        return truncation

