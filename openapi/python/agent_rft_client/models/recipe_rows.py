from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.recipe_rows_training_item import RecipeRowsTrainingItem
  from ..models.recipe_rows_validation_item import RecipeRowsValidationItem





T = TypeVar("T", bound="RecipeRows")



@_attrs_define
class RecipeRows:
    """ A small curriculum to try a recipe with; a real job has rows of its own.

        Attributes:
            training (list[RecipeRowsTrainingItem]): Rows for training.
            validation (list[RecipeRowsValidationItem]): Held-out rows.
     """

    training: list[RecipeRowsTrainingItem]
    validation: list[RecipeRowsValidationItem]





    def to_dict(self) -> dict[str, Any]:
        from ..models.recipe_rows_training_item import RecipeRowsTrainingItem # noqa: PLC0415
        from ..models.recipe_rows_validation_item import RecipeRowsValidationItem # noqa: PLC0415
        training = []
        for training_item_data in self.training:
            training_item = training_item_data.to_dict()
            training.append(training_item)



        validation = []
        for validation_item_data in self.validation:
            validation_item = validation_item_data.to_dict()
            validation.append(validation_item)




        field_dict: dict[str, Any] = {}

        field_dict.update({
            "training": training,
            "validation": validation,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.recipe_rows_training_item import RecipeRowsTrainingItem # noqa: PLC0415
        from ..models.recipe_rows_validation_item import RecipeRowsValidationItem # noqa: PLC0415
        d = dict(src_dict)
        training = []
        _training = d.pop("training")
        for training_item_data in (_training):
            training_item = RecipeRowsTrainingItem.from_dict(training_item_data)



            training.append(training_item)


        validation = []
        _validation = d.pop("validation")
        for validation_item_data in (_validation):
            validation_item = RecipeRowsValidationItem.from_dict(validation_item_data)



            validation.append(validation_item)


        recipe_rows = cls(
            training=training,
            validation=validation,
        )

        return recipe_rows

