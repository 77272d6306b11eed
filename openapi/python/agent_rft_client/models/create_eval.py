from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.create_eval_metadata_type_0 import CreateEvalMetadataType0
  from ..models.create_eval_testing_criteria_item import CreateEvalTestingCriteriaItem
  from ..models.data_source_config import DataSourceConfig





T = TypeVar("T", bound="CreateEval")



@_attrs_define
class CreateEval:
    """ A new eval: the form of its items, and the criteria that grade them.

        Attributes:
            data_source_config (DataSourceConfig): The form of the items of an eval.
            testing_criteria (list[CreateEvalTestingCriteriaItem]): Graders that score each item.
            name (None | str | Unset): Name for readers; it need not be unique.
            metadata (CreateEvalMetadataType0 | None | Unset): Up to 16 pairs of text of the user's own; the service does
                not read them.
     """

    data_source_config: DataSourceConfig
    testing_criteria: list[CreateEvalTestingCriteriaItem]
    name: None | str | Unset = UNSET
    metadata: CreateEvalMetadataType0 | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.create_eval_metadata_type_0 import CreateEvalMetadataType0 # noqa: PLC0415
        from ..models.create_eval_testing_criteria_item import CreateEvalTestingCriteriaItem # noqa: PLC0415
        from ..models.data_source_config import DataSourceConfig # noqa: PLC0415
        data_source_config = self.data_source_config.to_dict()

        testing_criteria = []
        for testing_criteria_item_data in self.testing_criteria:
            testing_criteria_item = testing_criteria_item_data.to_dict()
            testing_criteria.append(testing_criteria_item)



        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, CreateEvalMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "data_source_config": data_source_config,
            "testing_criteria": testing_criteria,
        })
        if name is not UNSET:
            field_dict["name"] = name
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.create_eval_metadata_type_0 import CreateEvalMetadataType0 # noqa: PLC0415
        from ..models.create_eval_testing_criteria_item import CreateEvalTestingCriteriaItem # noqa: PLC0415
        from ..models.data_source_config import DataSourceConfig # noqa: PLC0415
        d = dict(src_dict)
        data_source_config = DataSourceConfig.from_dict(d.pop("data_source_config"))




        testing_criteria = []
        _testing_criteria = d.pop("testing_criteria")
        for testing_criteria_item_data in (_testing_criteria):
            testing_criteria_item = CreateEvalTestingCriteriaItem.from_dict(testing_criteria_item_data)



            testing_criteria.append(testing_criteria_item)


        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))


        def _parse_metadata(data: object) -> CreateEvalMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CreateEvalMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateEvalMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        create_eval = cls(
            data_source_config=data_source_config,
            testing_criteria=testing_criteria,
            name=name,
            metadata=metadata,
        )


        create_eval.additional_properties = d
        return create_eval

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
