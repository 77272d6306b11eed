from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.update_curriculum_metadata_type_0 import UpdateCurriculumMetadataType0
  from ..models.update_curriculum_training_type_0_item import UpdateCurriculumTrainingType0Item
  from ..models.update_curriculum_validation_type_0_item import UpdateCurriculumValidationType0Item





T = TypeVar("T", bound="UpdateCurriculum")



@_attrs_define
class UpdateCurriculum:
    """ Changes that make a new version of a curriculum; absent fields do not change, and `null`
    removes the validation file.

        Attributes:
            training_file (None | str | Unset): Id of the file with the training rows.
            validation_file (None | str | Unset): Id of the file with the held-out rows.
            training (list[UpdateCurriculumTrainingType0Item] | None | Unset): Training rows, instead of `training_file`.
            validation (list[UpdateCurriculumValidationType0Item] | None | Unset): Held-out rows, instead of
                `validation_file`.
            metadata (None | Unset | UpdateCurriculumMetadataType0): Up to 16 pairs of text of the user's own; the service
                does not read them.
            name (None | str | Unset): Name that no other curriculum of the project has.
     """

    training_file: None | str | Unset = UNSET
    validation_file: None | str | Unset = UNSET
    training: list[UpdateCurriculumTrainingType0Item] | None | Unset = UNSET
    validation: list[UpdateCurriculumValidationType0Item] | None | Unset = UNSET
    metadata: None | Unset | UpdateCurriculumMetadataType0 = UNSET
    name: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.update_curriculum_metadata_type_0 import UpdateCurriculumMetadataType0 # noqa: PLC0415
        from ..models.update_curriculum_training_type_0_item import UpdateCurriculumTrainingType0Item # noqa: PLC0415
        from ..models.update_curriculum_validation_type_0_item import UpdateCurriculumValidationType0Item # noqa: PLC0415
        training_file: None | str | Unset
        if isinstance(self.training_file, Unset):
            training_file = UNSET
        else:
            training_file = self.training_file

        validation_file: None | str | Unset
        if isinstance(self.validation_file, Unset):
            validation_file = UNSET
        else:
            validation_file = self.validation_file

        training: list[dict[str, Any]] | None | Unset
        if isinstance(self.training, Unset):
            training = UNSET
        elif isinstance(self.training, list):
            training = []
            for training_type_0_item_data in self.training:
                training_type_0_item = training_type_0_item_data.to_dict()
                training.append(training_type_0_item)


        else:
            training = self.training

        validation: list[dict[str, Any]] | None | Unset
        if isinstance(self.validation, Unset):
            validation = UNSET
        elif isinstance(self.validation, list):
            validation = []
            for validation_type_0_item_data in self.validation:
                validation_type_0_item = validation_type_0_item_data.to_dict()
                validation.append(validation_type_0_item)


        else:
            validation = self.validation

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, UpdateCurriculumMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if training_file is not UNSET:
            field_dict["training_file"] = training_file
        if validation_file is not UNSET:
            field_dict["validation_file"] = validation_file
        if training is not UNSET:
            field_dict["training"] = training
        if validation is not UNSET:
            field_dict["validation"] = validation
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if name is not UNSET:
            field_dict["name"] = name

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.update_curriculum_metadata_type_0 import UpdateCurriculumMetadataType0 # noqa: PLC0415
        from ..models.update_curriculum_training_type_0_item import UpdateCurriculumTrainingType0Item # noqa: PLC0415
        from ..models.update_curriculum_validation_type_0_item import UpdateCurriculumValidationType0Item # noqa: PLC0415
        d = dict(src_dict)
        def _parse_training_file(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        training_file = _parse_training_file(d.pop("training_file", UNSET))


        def _parse_validation_file(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        validation_file = _parse_validation_file(d.pop("validation_file", UNSET))


        def _parse_training(data: object) -> list[UpdateCurriculumTrainingType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                training_type_0 = []
                _training_type_0 = data
                for training_type_0_item_data in (_training_type_0):
                    training_type_0_item = UpdateCurriculumTrainingType0Item.from_dict(training_type_0_item_data)



                    training_type_0.append(training_type_0_item)

                return training_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[UpdateCurriculumTrainingType0Item] | None | Unset, data)

        training = _parse_training(d.pop("training", UNSET))


        def _parse_validation(data: object) -> list[UpdateCurriculumValidationType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                validation_type_0 = []
                _validation_type_0 = data
                for validation_type_0_item_data in (_validation_type_0):
                    validation_type_0_item = UpdateCurriculumValidationType0Item.from_dict(validation_type_0_item_data)



                    validation_type_0.append(validation_type_0_item)

                return validation_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[UpdateCurriculumValidationType0Item] | None | Unset, data)

        validation = _parse_validation(d.pop("validation", UNSET))


        def _parse_metadata(data: object) -> None | Unset | UpdateCurriculumMetadataType0:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = UpdateCurriculumMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | UpdateCurriculumMetadataType0, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))


        update_curriculum = cls(
            training_file=training_file,
            validation_file=validation_file,
            training=training,
            validation=validation,
            metadata=metadata,
            name=name,
        )


        update_curriculum.additional_properties = d
        return update_curriculum

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
