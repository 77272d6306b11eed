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
  from ..models.curriculum_metadata_type_0 import CurriculumMetadataType0
  from ..models.curriculum_origin import CurriculumOrigin
  from ..models.registry_warning import RegistryWarning





T = TypeVar("T", bound="Curriculum")



@_attrs_define
class Curriculum:
    """ A version of a registered curriculum: the files that jobs train and validate on.

        Attributes:
            id (str): Id of the object.
            created_at (int): Unix seconds at which the object was made.
            updated_at (int): Creation time of this version.
            version (int): Number of the version, from 1.
            name (str): Name that no other object of this type in the project has.
            metadata (CurriculumMetadataType0 | None): Up to 16 pairs of text of the user's own; the service does not read
                them.
            object_ (Literal['curriculum']): Type of the object; each type has one constant value. Default: 'curriculum'.
            training_file (str): Id of the file with the training rows.
            validation_file (None | str): Id of the file with the held-out rows.
            training_rows (int): Lines that are not blank, counted in the file.
            validation_rows (int | None): As `training_rows`.
            training_sha256 (str): SHA-256 of the file's bytes.
            validation_sha256 (None | str): As `training_sha256`.
            warnings (list[RegistryWarning] | None | Unset): Parts of this request without effect; only in the reply to a
                create or an update.
            made_from (CurriculumOrigin | None | Unset): Sources and counts of files that the service made; absent for a
                curriculum of files.
     """

    id: str
    created_at: int
    updated_at: int
    version: int
    name: str
    metadata: CurriculumMetadataType0 | None
    training_file: str
    validation_file: None | str
    training_rows: int
    validation_rows: int | None
    training_sha256: str
    validation_sha256: None | str
    object_: Literal['curriculum'] = 'curriculum'
    warnings: list[RegistryWarning] | None | Unset = UNSET
    made_from: CurriculumOrigin | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.curriculum_metadata_type_0 import CurriculumMetadataType0 # noqa: PLC0415
        from ..models.curriculum_origin import CurriculumOrigin # noqa: PLC0415
        from ..models.registry_warning import RegistryWarning # noqa: PLC0415
        id = self.id

        created_at = self.created_at

        updated_at = self.updated_at

        version = self.version

        name = self.name

        metadata: dict[str, Any] | None
        if isinstance(self.metadata, CurriculumMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        object_ = self.object_

        training_file = self.training_file

        validation_file: None | str
        validation_file = self.validation_file

        training_rows = self.training_rows

        validation_rows: int | None
        validation_rows = self.validation_rows

        training_sha256 = self.training_sha256

        validation_sha256: None | str
        validation_sha256 = self.validation_sha256

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

        made_from: dict[str, Any] | None | Unset
        if isinstance(self.made_from, Unset):
            made_from = UNSET
        elif isinstance(self.made_from, CurriculumOrigin):
            made_from = self.made_from.to_dict()
        else:
            made_from = self.made_from


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
            "training_file": training_file,
            "validation_file": validation_file,
            "training_rows": training_rows,
            "validation_rows": validation_rows,
            "training_sha256": training_sha256,
            "validation_sha256": validation_sha256,
        })
        if warnings is not UNSET:
            field_dict["warnings"] = warnings
        if made_from is not UNSET:
            field_dict["made_from"] = made_from

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.curriculum_metadata_type_0 import CurriculumMetadataType0 # noqa: PLC0415
        from ..models.curriculum_origin import CurriculumOrigin # noqa: PLC0415
        from ..models.registry_warning import RegistryWarning # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        created_at = d.pop("created_at")

        updated_at = d.pop("updated_at")

        version = d.pop("version")

        name = d.pop("name")

        def _parse_metadata(data: object) -> CurriculumMetadataType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CurriculumMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CurriculumMetadataType0 | None, data)

        metadata = _parse_metadata(d.pop("metadata"))


        object_ = cast(Literal['curriculum'] , d.pop("object"))
        if object_ != 'curriculum':
            raise ValueError(f"object must match const 'curriculum', got '{object_}'")

        training_file = d.pop("training_file")

        def _parse_validation_file(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        validation_file = _parse_validation_file(d.pop("validation_file"))


        training_rows = d.pop("training_rows")

        def _parse_validation_rows(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        validation_rows = _parse_validation_rows(d.pop("validation_rows"))


        training_sha256 = d.pop("training_sha256")

        def _parse_validation_sha256(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        validation_sha256 = _parse_validation_sha256(d.pop("validation_sha256"))


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


        def _parse_made_from(data: object) -> CurriculumOrigin | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                made_from_type_0 = CurriculumOrigin.from_dict(data)



                return made_from_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CurriculumOrigin | None | Unset, data)

        made_from = _parse_made_from(d.pop("made_from", UNSET))


        curriculum = cls(
            id=id,
            created_at=created_at,
            updated_at=updated_at,
            version=version,
            name=name,
            metadata=metadata,
            object_=object_,
            training_file=training_file,
            validation_file=validation_file,
            training_rows=training_rows,
            validation_rows=validation_rows,
            training_sha256=training_sha256,
            validation_sha256=validation_sha256,
            warnings=warnings,
            made_from=made_from,
        )


        curriculum.additional_properties = d
        return curriculum

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
