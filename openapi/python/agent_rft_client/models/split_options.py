from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset






T = TypeVar("T", bound="SplitOptions")



@_attrs_define
class SplitOptions:
    """ The held-out part: its size and the seed of the choice.

        Attributes:
            validation_share (float | Unset): Share of the rows that is held out, at most 1,000 rows; 0 holds out nothing.
                Default: 0.2.
            seed (int | Unset): Chooses among the clusters of rows; the same seed makes the same choice. Default: 0.
     """

    validation_share: float | Unset = 0.2
    seed: int | Unset = 0





    def to_dict(self) -> dict[str, Any]:
        validation_share = self.validation_share

        seed = self.seed


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if validation_share is not UNSET:
            field_dict["validation_share"] = validation_share
        if seed is not UNSET:
            field_dict["seed"] = seed

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        validation_share = d.pop("validation_share", UNSET)

        seed = d.pop("seed", UNSET)

        split_options = cls(
            validation_share=validation_share,
            seed=seed,
        )

        return split_options

