from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.create_curriculum_metadata_type_0 import CreateCurriculumMetadataType0
  from ..models.create_curriculum_training_type_0_item import CreateCurriculumTrainingType0Item
  from ..models.create_curriculum_validation_type_0_item import CreateCurriculumValidationType0Item





T = TypeVar("T", bound="CreateCurriculum")



@_attrs_define
class CreateCurriculum:
    """ A new curriculum: ids of files, or rows that are stored as files.

        Attributes:
            name (str): Name that no other curriculum of the project has.
            training_file (None | str | Unset): Id of the file with the training rows.
            validation_file (None | str | Unset): Id of the file with the held-out rows.
            training (list[CreateCurriculumTrainingType0Item] | None | Unset): Training rows, instead of `training_file`.
            validation (list[CreateCurriculumValidationType0Item] | None | Unset): Held-out rows, instead of
                `validation_file`.
            metadata (CreateCurriculumMetadataType0 | None | Unset): Up to 16 pairs of text of the user's own; the service
                does not read them.
     """

    name: str
    training_file: None | str | Unset = UNSET
    validation_file: None | str | Unset = UNSET
    training: list[CreateCurriculumTrainingType0Item] | None | Unset = UNSET
    validation: list[CreateCurriculumValidationType0Item] | None | Unset = UNSET
    metadata: CreateCurriculumMetadataType0 | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.create_curriculum_metadata_type_0 import CreateCurriculumMetadataType0 # noqa: PLC0415
        from ..models.create_curriculum_training_type_0_item import CreateCurriculumTrainingType0Item # noqa: PLC0415
        from ..models.create_curriculum_validation_type_0_item import CreateCurriculumValidationType0Item # noqa: PLC0415
        name = self.name

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
        elif isinstance(self.metadata, CreateCurriculumMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
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

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.create_curriculum_metadata_type_0 import CreateCurriculumMetadataType0 # noqa: PLC0415
        from ..models.create_curriculum_training_type_0_item import CreateCurriculumTrainingType0Item # noqa: PLC0415
        from ..models.create_curriculum_validation_type_0_item import CreateCurriculumValidationType0Item # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("name")

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


        def _parse_training(data: object) -> list[CreateCurriculumTrainingType0Item] | None | Unset:
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
                    training_type_0_item = CreateCurriculumTrainingType0Item.from_dict(training_type_0_item_data)



                    training_type_0.append(training_type_0_item)

                return training_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[CreateCurriculumTrainingType0Item] | None | Unset, data)

        training = _parse_training(d.pop("training", UNSET))


        def _parse_validation(data: object) -> list[CreateCurriculumValidationType0Item] | None | Unset:
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
                    validation_type_0_item = CreateCurriculumValidationType0Item.from_dict(validation_type_0_item_data)



                    validation_type_0.append(validation_type_0_item)

                return validation_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[CreateCurriculumValidationType0Item] | None | Unset, data)

        validation = _parse_validation(d.pop("validation", UNSET))


        def _parse_metadata(data: object) -> CreateCurriculumMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CreateCurriculumMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateCurriculumMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        create_curriculum = cls(
            name=name,
            training_file=training_file,
            validation_file=validation_file,
            training=training,
            validation=validation,
            metadata=metadata,
        )


        create_curriculum.additional_properties = d
        return create_curriculum

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
