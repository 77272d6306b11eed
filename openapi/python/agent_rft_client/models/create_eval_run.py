from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.create_eval_run_data_source import CreateEvalRunDataSource
  from ..models.create_eval_run_metadata_type_0 import CreateEvalRunMetadataType0





T = TypeVar("T", bound="CreateEvalRun")



@_attrs_define
class CreateEvalRun:
    """ A new run of an eval.

        Attributes:
            data_source (CreateEvalRunDataSource): Items to grade (`jsonl`), or prompts that a model answers first
                (`completions`, `responses`).
            name (None | str | Unset): Name for readers; it need not be unique.
            metadata (CreateEvalRunMetadataType0 | None | Unset): Up to 16 pairs of text of the user's own; the service does
                not read them.
     """

    data_source: CreateEvalRunDataSource
    name: None | str | Unset = UNSET
    metadata: CreateEvalRunMetadataType0 | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.create_eval_run_data_source import CreateEvalRunDataSource # noqa: PLC0415
        from ..models.create_eval_run_metadata_type_0 import CreateEvalRunMetadataType0 # noqa: PLC0415
        data_source = self.data_source.to_dict()

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, CreateEvalRunMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "data_source": data_source,
        })
        if name is not UNSET:
            field_dict["name"] = name
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.create_eval_run_data_source import CreateEvalRunDataSource # noqa: PLC0415
        from ..models.create_eval_run_metadata_type_0 import CreateEvalRunMetadataType0 # noqa: PLC0415
        d = dict(src_dict)
        data_source = CreateEvalRunDataSource.from_dict(d.pop("data_source"))




        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))


        def _parse_metadata(data: object) -> CreateEvalRunMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CreateEvalRunMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateEvalRunMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        create_eval_run = cls(
            data_source=data_source,
            name=name,
            metadata=metadata,
        )


        create_eval_run.additional_properties = d
        return create_eval_run

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
