from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.create_curriculum_invalid_rows import check_create_curriculum_invalid_rows
from ..models.create_curriculum_invalid_rows import CreateCurriculumInvalidRows
from ..models.create_curriculum_method import check_create_curriculum_method
from ..models.create_curriculum_method import CreateCurriculumMethod
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.build_source import BuildSource
  from ..models.create_curriculum_metadata_type_0 import CreateCurriculumMetadataType0
  from ..models.create_curriculum_training_type_0_item import CreateCurriculumTrainingType0Item
  from ..models.create_curriculum_validation_type_0_item import CreateCurriculumValidationType0Item
  from ..models.curriculum_source import CurriculumSource
  from ..models.file_source import FileSource
  from ..models.hub_source import HubSource
  from ..models.rollouts_source import RolloutsSource
  from ..models.rows_source import RowsSource
  from ..models.split_options import SplitOptions





T = TypeVar("T", bound="CreateCurriculum")



@_attrs_define
class CreateCurriculum:
    """ A new curriculum: ids of files, rows that are stored as files, or sources that both files are
    made from.

        Attributes:
            name (str): Name that no other curriculum of the project has.
            method (CreateCurriculumMethod | Unset): The kind of job that the rows of `sources` are for. Default:
                'reinforcement'.
            split (SplitOptions | Unset): The held-out part: its size and the seed of the choice.
            invalid_rows (CreateCurriculumInvalidRows | Unset): `skip` leaves out rows of `sources` that no such job takes,
                and counts them; `refuse` refuses the call. Default: 'refuse'.
            training_file (None | str | Unset): Id of the file with the training rows.
            validation_file (None | str | Unset): Id of the file with the held-out rows.
            training (list[CreateCurriculumTrainingType0Item] | None | Unset): Training rows, instead of `training_file`.
            validation (list[CreateCurriculumValidationType0Item] | None | Unset): Held-out rows, instead of
                `validation_file`.
            metadata (CreateCurriculumMetadataType0 | None | Unset): Up to 16 pairs of text of the user's own; the service
                does not read them.
            sources (list[BuildSource | CurriculumSource | FileSource | HubSource | RolloutsSource | RowsSource] | None |
                Unset): The sources of both files, one after the other; instead of `training`, `training_file` and those of the
                validation.
     """

    name: str
    method: CreateCurriculumMethod | Unset = 'reinforcement'
    split: SplitOptions | Unset = UNSET
    invalid_rows: CreateCurriculumInvalidRows | Unset = 'refuse'
    training_file: None | str | Unset = UNSET
    validation_file: None | str | Unset = UNSET
    training: list[CreateCurriculumTrainingType0Item] | None | Unset = UNSET
    validation: list[CreateCurriculumValidationType0Item] | None | Unset = UNSET
    metadata: CreateCurriculumMetadataType0 | None | Unset = UNSET
    sources: list[BuildSource | CurriculumSource | FileSource | HubSource | RolloutsSource | RowsSource] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.build_source import BuildSource # noqa: PLC0415
        from ..models.create_curriculum_metadata_type_0 import CreateCurriculumMetadataType0 # noqa: PLC0415
        from ..models.create_curriculum_training_type_0_item import CreateCurriculumTrainingType0Item # noqa: PLC0415
        from ..models.create_curriculum_validation_type_0_item import CreateCurriculumValidationType0Item # noqa: PLC0415
        from ..models.curriculum_source import CurriculumSource # noqa: PLC0415
        from ..models.file_source import FileSource # noqa: PLC0415
        from ..models.hub_source import HubSource # noqa: PLC0415
        from ..models.rollouts_source import RolloutsSource # noqa: PLC0415
        from ..models.rows_source import RowsSource # noqa: PLC0415
        from ..models.split_options import SplitOptions # noqa: PLC0415
        name = self.name

        method: str | Unset = UNSET
        if not isinstance(self.method, Unset):
            method = self.method


        split: dict[str, Any] | Unset = UNSET
        if not isinstance(self.split, Unset):
            split = self.split.to_dict()

        invalid_rows: str | Unset = UNSET
        if not isinstance(self.invalid_rows, Unset):
            invalid_rows = self.invalid_rows


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

        sources: list[dict[str, Any]] | None | Unset
        if isinstance(self.sources, Unset):
            sources = UNSET
        elif isinstance(self.sources, list):
            sources = []
            for sources_type_0_item_data in self.sources:
                sources_type_0_item: dict[str, Any]
                if isinstance(sources_type_0_item_data, FileSource):
                    sources_type_0_item = sources_type_0_item_data.to_dict()
                elif isinstance(sources_type_0_item_data, RowsSource):
                    sources_type_0_item = sources_type_0_item_data.to_dict()
                elif isinstance(sources_type_0_item_data, CurriculumSource):
                    sources_type_0_item = sources_type_0_item_data.to_dict()
                elif isinstance(sources_type_0_item_data, RolloutsSource):
                    sources_type_0_item = sources_type_0_item_data.to_dict()
                elif isinstance(sources_type_0_item_data, BuildSource):
                    sources_type_0_item = sources_type_0_item_data.to_dict()
                else:
                    sources_type_0_item = sources_type_0_item_data.to_dict()

                sources.append(sources_type_0_item)


        else:
            sources = self.sources


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
        })
        if method is not UNSET:
            field_dict["method"] = method
        if split is not UNSET:
            field_dict["split"] = split
        if invalid_rows is not UNSET:
            field_dict["invalid_rows"] = invalid_rows
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
        if sources is not UNSET:
            field_dict["sources"] = sources

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.build_source import BuildSource # noqa: PLC0415
        from ..models.create_curriculum_metadata_type_0 import CreateCurriculumMetadataType0 # noqa: PLC0415
        from ..models.create_curriculum_training_type_0_item import CreateCurriculumTrainingType0Item # noqa: PLC0415
        from ..models.create_curriculum_validation_type_0_item import CreateCurriculumValidationType0Item # noqa: PLC0415
        from ..models.curriculum_source import CurriculumSource # noqa: PLC0415
        from ..models.file_source import FileSource # noqa: PLC0415
        from ..models.hub_source import HubSource # noqa: PLC0415
        from ..models.rollouts_source import RolloutsSource # noqa: PLC0415
        from ..models.rows_source import RowsSource # noqa: PLC0415
        from ..models.split_options import SplitOptions # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("name")

        _method = d.pop("method", UNSET)
        method: CreateCurriculumMethod | Unset
        if isinstance(_method,  Unset):
            method = UNSET
        else:
            method = check_create_curriculum_method(_method)




        _split = d.pop("split", UNSET)
        split: SplitOptions | Unset
        if isinstance(_split,  Unset):
            split = UNSET
        else:
            split = SplitOptions.from_dict(_split)




        _invalid_rows = d.pop("invalid_rows", UNSET)
        invalid_rows: CreateCurriculumInvalidRows | Unset
        if isinstance(_invalid_rows,  Unset):
            invalid_rows = UNSET
        else:
            invalid_rows = check_create_curriculum_invalid_rows(_invalid_rows)




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


        def _parse_sources(data: object) -> list[BuildSource | CurriculumSource | FileSource | HubSource | RolloutsSource | RowsSource] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                sources_type_0 = []
                _sources_type_0 = data
                for sources_type_0_item_data in (_sources_type_0):
                    def _parse_sources_type_0_item(data: object) -> BuildSource | CurriculumSource | FileSource | HubSource | RolloutsSource | RowsSource:
                        try:
                            if not isinstance(data, dict):
                                raise TypeError()
                            sources_type_0_item_type_0 = FileSource.from_dict(data)



                            return sources_type_0_item_type_0
                        except (TypeError, ValueError, AttributeError, KeyError):
                            pass
                        try:
                            if not isinstance(data, dict):
                                raise TypeError()
                            sources_type_0_item_type_1 = RowsSource.from_dict(data)



                            return sources_type_0_item_type_1
                        except (TypeError, ValueError, AttributeError, KeyError):
                            pass
                        try:
                            if not isinstance(data, dict):
                                raise TypeError()
                            sources_type_0_item_type_2 = CurriculumSource.from_dict(data)



                            return sources_type_0_item_type_2
                        except (TypeError, ValueError, AttributeError, KeyError):
                            pass
                        try:
                            if not isinstance(data, dict):
                                raise TypeError()
                            sources_type_0_item_type_3 = RolloutsSource.from_dict(data)



                            return sources_type_0_item_type_3
                        except (TypeError, ValueError, AttributeError, KeyError):
                            pass
                        try:
                            if not isinstance(data, dict):
                                raise TypeError()
                            sources_type_0_item_type_4 = BuildSource.from_dict(data)



                            return sources_type_0_item_type_4
                        except (TypeError, ValueError, AttributeError, KeyError):
                            pass
                        if not isinstance(data, dict):
                            raise TypeError()
                        sources_type_0_item_type_5 = HubSource.from_dict(data)



                        return sources_type_0_item_type_5

                    sources_type_0_item = _parse_sources_type_0_item(sources_type_0_item_data)

                    sources_type_0.append(sources_type_0_item)

                return sources_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[BuildSource | CurriculumSource | FileSource | HubSource | RolloutsSource | RowsSource] | None | Unset, data)

        sources = _parse_sources(d.pop("sources", UNSET))


        create_curriculum = cls(
            name=name,
            method=method,
            split=split,
            invalid_rows=invalid_rows,
            training_file=training_file,
            validation_file=validation_file,
            training=training,
            validation=validation,
            metadata=metadata,
            sources=sources,
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
