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
  from ..models.environment_headers_type_0 import EnvironmentHeadersType0
  from ..models.environment_metadata_type_0 import EnvironmentMetadataType0
  from ..models.registry_warning import RegistryWarning





T = TypeVar("T", bound="Environment")



@_attrs_define
class Environment:
    """ A version of a registered environment, which jobs refer to by id.

        Attributes:
            id (str): Id of the object.
            created_at (int): Unix seconds at which the object was made.
            updated_at (int): Creation time of this version.
            version (int): Number of the version, from 1.
            name (str): Name that no other object of this type in the project has.
            metadata (EnvironmentMetadataType0 | None): Up to 16 pairs of text of the user's own; the service does not read
                them.
            object_ (Literal['environment']): Type of the object; each type has one constant value. Default: 'environment'.
            type_ (Literal['http']): Kind of the environment.
            url (str): Address that `reset`, `step` and `close` are POSTed to, with query values redacted.
            headers (EnvironmentHeadersType0 | None): Headers sent with every call, each shown as `[redacted]`.
            rate_limit (float | None): Limit of requests per second from jobs.
            warnings (list[RegistryWarning] | None | Unset): Parts of this request without effect; only in the reply to a
                create or an update.
     """

    id: str
    created_at: int
    updated_at: int
    version: int
    name: str
    metadata: EnvironmentMetadataType0 | None
    type_: Literal['http']
    url: str
    headers: EnvironmentHeadersType0 | None
    rate_limit: float | None
    object_: Literal['environment'] = 'environment'
    warnings: list[RegistryWarning] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.environment_headers_type_0 import EnvironmentHeadersType0 # noqa: PLC0415
        from ..models.environment_metadata_type_0 import EnvironmentMetadataType0 # noqa: PLC0415
        from ..models.registry_warning import RegistryWarning # noqa: PLC0415
        id = self.id

        created_at = self.created_at

        updated_at = self.updated_at

        version = self.version

        name = self.name

        metadata: dict[str, Any] | None
        if isinstance(self.metadata, EnvironmentMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        object_ = self.object_

        type_ = self.type_

        url = self.url

        headers: dict[str, Any] | None
        if isinstance(self.headers, EnvironmentHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers

        rate_limit: float | None
        rate_limit = self.rate_limit

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
            "type": type_,
            "url": url,
            "headers": headers,
            "rate_limit": rate_limit,
        })
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.environment_headers_type_0 import EnvironmentHeadersType0 # noqa: PLC0415
        from ..models.environment_metadata_type_0 import EnvironmentMetadataType0 # noqa: PLC0415
        from ..models.registry_warning import RegistryWarning # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        created_at = d.pop("created_at")

        updated_at = d.pop("updated_at")

        version = d.pop("version")

        name = d.pop("name")

        def _parse_metadata(data: object) -> EnvironmentMetadataType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = EnvironmentMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EnvironmentMetadataType0 | None, data)

        metadata = _parse_metadata(d.pop("metadata"))


        object_ = cast(Literal['environment'] , d.pop("object"))
        if object_ != 'environment':
            raise ValueError(f"object must match const 'environment', got '{object_}'")

        type_ = cast(Literal['http'] , d.pop("type"))
        if type_ != 'http':
            raise ValueError(f"type must match const 'http', got '{type_}'")

        url = d.pop("url")

        def _parse_headers(data: object) -> EnvironmentHeadersType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = EnvironmentHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EnvironmentHeadersType0 | None, data)

        headers = _parse_headers(d.pop("headers"))


        def _parse_rate_limit(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        rate_limit = _parse_rate_limit(d.pop("rate_limit"))


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


        environment = cls(
            id=id,
            created_at=created_at,
            updated_at=updated_at,
            version=version,
            name=name,
            metadata=metadata,
            object_=object_,
            type_=type_,
            url=url,
            headers=headers,
            rate_limit=rate_limit,
            warnings=warnings,
        )


        environment.additional_properties = d
        return environment

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
