from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.generated_curriculum_training_item import GeneratedCurriculumTrainingItem
  from ..models.generated_curriculum_validation_item import GeneratedCurriculumValidationItem





T = TypeVar("T", bound="GeneratedCurriculum")



@_attrs_define
class GeneratedCurriculum:
    """ Rows of a curriculum, as a job's `curriculum` takes them.

        Attributes:
            training (list[GeneratedCurriculumTrainingItem]): Rows to train on; each has a `difficulty` from 0, easiest, to
                1, hardest.
            validation (list[GeneratedCurriculumValidationItem]): Held-out rows.
     """

    training: list[GeneratedCurriculumTrainingItem]
    validation: list[GeneratedCurriculumValidationItem]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.generated_curriculum_training_item import GeneratedCurriculumTrainingItem # noqa: PLC0415
        from ..models.generated_curriculum_validation_item import GeneratedCurriculumValidationItem # noqa: PLC0415
        training = []
        for training_item_data in self.training:
            training_item = training_item_data.to_dict()
            training.append(training_item)



        validation = []
        for validation_item_data in self.validation:
            validation_item = validation_item_data.to_dict()
            validation.append(validation_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "training": training,
            "validation": validation,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.generated_curriculum_training_item import GeneratedCurriculumTrainingItem # noqa: PLC0415
        from ..models.generated_curriculum_validation_item import GeneratedCurriculumValidationItem # noqa: PLC0415
        d = dict(src_dict)
        training = []
        _training = d.pop("training")
        for training_item_data in (_training):
            training_item = GeneratedCurriculumTrainingItem.from_dict(training_item_data)



            training.append(training_item)


        validation = []
        _validation = d.pop("validation")
        for validation_item_data in (_validation):
            validation_item = GeneratedCurriculumValidationItem.from_dict(validation_item_data)



            validation.append(validation_item)


        generated_curriculum = cls(
            training=training,
            validation=validation,
        )


        generated_curriculum.additional_properties = d
        return generated_curriculum

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
