from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.registry_warning import RegistryWarning
  from ..models.validated_grader_grader import ValidatedGraderGrader





T = TypeVar("T", bound="ValidatedGrader")



@_attrs_define
class ValidatedGrader:
    """ The grader as it was read, with its defaults.

        Attributes:
            grader (ValidatedGraderGrader): The grader with default values added and secrets redacted.
            warnings (list[RegistryWarning] | None | Unset): A grader whose score does not depend on the answer (an
                extension).
     """

    grader: ValidatedGraderGrader
    warnings: list[RegistryWarning] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.registry_warning import RegistryWarning # noqa: PLC0415
        from ..models.validated_grader_grader import ValidatedGraderGrader # noqa: PLC0415
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
            "grader": grader,
        })
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.registry_warning import RegistryWarning # noqa: PLC0415
        from ..models.validated_grader_grader import ValidatedGraderGrader # noqa: PLC0415
        d = dict(src_dict)
        grader = ValidatedGraderGrader.from_dict(d.pop("grader"))




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


        validated_grader = cls(
            grader=grader,
            warnings=warnings,
        )


        validated_grader.additional_properties = d
        return validated_grader

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
