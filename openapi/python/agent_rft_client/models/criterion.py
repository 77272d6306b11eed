from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset






T = TypeVar("T", bound="Criterion")



@_attrs_define
class Criterion:
    """ One criterion of a rubric.

        Attributes:
            name (str): Name of the criterion, unique in the rubric.
            description (str): The criterion in words. Not a template.
            weight (float | Unset): Its weight in the score, relative to the other criteria. Default: 1.0.
     """

    name: str
    description: str
    weight: float | Unset = 1.0





    def to_dict(self) -> dict[str, Any]:
        name = self.name

        description = self.description

        weight = self.weight


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "name": name,
            "description": description,
        })
        if weight is not UNSET:
            field_dict["weight"] = weight

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        description = d.pop("description")

        weight = d.pop("weight", UNSET)

        criterion = cls(
            name=name,
            description=description,
            weight=weight,
        )

        return criterion

