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
  from ..models.registered_grader_grader import RegisteredGraderGrader
  from ..models.registered_grader_metadata_type_0 import RegisteredGraderMetadataType0
  from ..models.registry_warning import RegistryWarning





T = TypeVar("T", bound="RegisteredGrader")



@_attrs_define
class RegisteredGrader:
    """ A version of a registered grader, which jobs refer to by id.

        Attributes:
            id (str): Id of the object.
            created_at (int): Unix seconds at which the object was made.
            updated_at (int): Creation time of this version.
            version (int): Number of the version, from 1.
            name (str): Name that no other object of this type in the project has.
            metadata (None | RegisteredGraderMetadataType0): Up to 16 pairs of text of the user's own; the service does not
                read them.
            object_ (Literal['grader']): Type of the object; each type has one constant value. Default: 'grader'.
            grader (RegisteredGraderGrader): The definition, with secrets redacted.
            warnings (list[RegistryWarning] | None | Unset): Parts of this request without effect; only in the reply to a
                create or an update.
     """

    id: str
    created_at: int
    updated_at: int
    version: int
    name: str
    metadata: None | RegisteredGraderMetadataType0
    grader: RegisteredGraderGrader
    object_: Literal['grader'] = 'grader'
    warnings: list[RegistryWarning] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.registered_grader_grader import RegisteredGraderGrader # noqa: PLC0415
        from ..models.registered_grader_metadata_type_0 import RegisteredGraderMetadataType0 # noqa: PLC0415
        from ..models.registry_warning import RegistryWarning # noqa: PLC0415
        id = self.id

        created_at = self.created_at

        updated_at = self.updated_at

        version = self.version

        name = self.name

        metadata: dict[str, Any] | None
        if isinstance(self.metadata, RegisteredGraderMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        object_ = self.object_

        grader = self.grader.to_dict()

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
            "created_at": created_at,
            "updated_at": updated_at,
            "version": version,
            "name": name,
            "metadata": metadata,
            "object": object_,
            "grader": grader,
        })
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.registered_grader_grader import RegisteredGraderGrader # noqa: PLC0415
        from ..models.registered_grader_metadata_type_0 import RegisteredGraderMetadataType0 # noqa: PLC0415
        from ..models.registry_warning import RegistryWarning # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        created_at = d.pop("created_at")

        updated_at = d.pop("updated_at")

        version = d.pop("version")

        name = d.pop("name")

        def _parse_metadata(data: object) -> None | RegisteredGraderMetadataType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = RegisteredGraderMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RegisteredGraderMetadataType0, data)

        metadata = _parse_metadata(d.pop("metadata"))


        object_ = cast(Literal['grader'] , d.pop("object"))
        if object_ != 'grader':
            raise ValueError(f"object must match const 'grader', got '{object_}'")

        grader = RegisteredGraderGrader.from_dict(d.pop("grader"))




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


        registered_grader = cls(
            id=id,
            created_at=created_at,
            updated_at=updated_at,
            version=version,
            name=name,
            metadata=metadata,
            object_=object_,
            grader=grader,
            warnings=warnings,
        )


        registered_grader.additional_properties = d
        return registered_grader

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
