from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="RecipeSource")



@_attrs_define
class RecipeSource:
    """ The evidence behind one setting of a recipe.

        Attributes:
            setting (str): A knob, or the path of an option in the method.
            reason (str): Reason for the recipe's value.
            source (str): The publication, the page of this project, or the measurement that the value comes from.
     """

    setting: str
    reason: str
    source: str





    def to_dict(self) -> dict[str, Any]:
        setting = self.setting

        reason = self.reason

        source = self.source


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "setting": setting,
            "reason": reason,
            "source": source,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        setting = d.pop("setting")

        reason = d.pop("reason")

        source = d.pop("source")

        recipe_source = cls(
            setting=setting,
            reason=reason,
            source=source,
        )

        return recipe_source

