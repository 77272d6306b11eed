from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.eval_object_data_source_config import EvalObjectDataSourceConfig
  from ..models.eval_object_metadata_type_0 import EvalObjectMetadataType0
  from ..models.eval_object_testing_criteria_item import EvalObjectTestingCriteriaItem
  from ..models.registry_warning import RegistryWarning





T = TypeVar("T", bound="EvalObject")



@_attrs_define
class EvalObject:
    """ An eval: the form of its items, and the criteria that grade them.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['eval']): Type of the object; each type has one constant value. Default: 'eval'.
            name (str): Name for readers; it need not be unique.
            data_source_config (EvalObjectDataSourceConfig): The form of the items.
            testing_criteria (list[EvalObjectTestingCriteriaItem]): Graders that score each item, with secrets redacted.
            metadata (EvalObjectMetadataType0 | None): Up to 16 pairs of text of the user's own; the service does not read
                them.
            created_at (int): Unix seconds at which the object was made.
            updated_at (int): Time of the last change (an extension).
            shared_with_openai (bool): Always false. Default: False.
            warnings (list[RegistryWarning] | None | Unset): Unknown keys of the criteria, and criteria that read no sample;
                only in the reply to a create (an extension).
     """

    id: str
    name: str
    data_source_config: EvalObjectDataSourceConfig
    testing_criteria: list[EvalObjectTestingCriteriaItem]
    metadata: EvalObjectMetadataType0 | None
    created_at: int
    updated_at: int
    object_: Literal['eval'] = 'eval'
    shared_with_openai: bool = False
    warnings: list[RegistryWarning] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.eval_object_data_source_config import EvalObjectDataSourceConfig # noqa: PLC0415
        from ..models.eval_object_metadata_type_0 import EvalObjectMetadataType0 # noqa: PLC0415
        from ..models.eval_object_testing_criteria_item import EvalObjectTestingCriteriaItem # noqa: PLC0415
        from ..models.registry_warning import RegistryWarning # noqa: PLC0415
        id = self.id

        object_ = self.object_

        name = self.name

        data_source_config = self.data_source_config.to_dict()

        testing_criteria = []
        for testing_criteria_item_data in self.testing_criteria:
            testing_criteria_item = testing_criteria_item_data.to_dict()
            testing_criteria.append(testing_criteria_item)



        metadata: dict[str, Any] | None
        if isinstance(self.metadata, EvalObjectMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        created_at = self.created_at

        updated_at = self.updated_at

        shared_with_openai = self.shared_with_openai

        warnings: list[dict[str, Any]] | None | Unset
        if isinstance(self.warnings, Unset):
            warnings = UNSET
        elif isinstance(self.warnings, list):
            warnings = []
            for warnings_type_0_item_data in self.warnings:
                warnings_type_0_item = warnings_type_0_item_data.to_dict()
                warnings.append(warnings_type_0_item)


        else:
            warnings = self.warnings


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "name": name,
            "data_source_config": data_source_config,
            "testing_criteria": testing_criteria,
            "metadata": metadata,
            "created_at": created_at,
            "updated_at": updated_at,
            "shared_with_openai": shared_with_openai,
        })
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.eval_object_data_source_config import EvalObjectDataSourceConfig # noqa: PLC0415
        from ..models.eval_object_metadata_type_0 import EvalObjectMetadataType0 # noqa: PLC0415
        from ..models.eval_object_testing_criteria_item import EvalObjectTestingCriteriaItem # noqa: PLC0415
        from ..models.registry_warning import RegistryWarning # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['eval'] , d.pop("object"))
        if object_ != 'eval':
            raise ValueError(f"object must match const 'eval', got '{object_}'")

        name = d.pop("name")

        data_source_config = EvalObjectDataSourceConfig.from_dict(d.pop("data_source_config"))




        testing_criteria = []
        _testing_criteria = d.pop("testing_criteria")
        for testing_criteria_item_data in (_testing_criteria):
            testing_criteria_item = EvalObjectTestingCriteriaItem.from_dict(testing_criteria_item_data)



            testing_criteria.append(testing_criteria_item)


        def _parse_metadata(data: object) -> EvalObjectMetadataType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = EvalObjectMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EvalObjectMetadataType0 | None, data)

        metadata = _parse_metadata(d.pop("metadata"))


        created_at = d.pop("created_at")

        updated_at = d.pop("updated_at")

        shared_with_openai = d.pop("shared_with_openai")

        def _parse_warnings(data: object) -> list[RegistryWarning] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                warnings_type_0 = []
                _warnings_type_0 = data
                for warnings_type_0_item_data in (_warnings_type_0):
                    warnings_type_0_item = RegistryWarning.from_dict(warnings_type_0_item_data)



                    warnings_type_0.append(warnings_type_0_item)

                return warnings_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[RegistryWarning] | None | Unset, data)

        warnings = _parse_warnings(d.pop("warnings", UNSET))


        eval_object = cls(
            id=id,
            object_=object_,
            name=name,
            data_source_config=data_source_config,
            testing_criteria=testing_criteria,
            metadata=metadata,
            created_at=created_at,
            updated_at=updated_at,
            shared_with_openai=shared_with_openai,
            warnings=warnings,
        )


        eval_object.additional_properties = d
        return eval_object

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
