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
  from ..models.registry_warning import RegistryWarning
  from ..models.tool_headers_type_0 import ToolHeadersType0
  from ..models.tool_metadata_type_0 import ToolMetadataType0
  from ..models.tool_parameters_type_0 import ToolParametersType0





T = TypeVar("T", bound="Tool")



@_attrs_define
class Tool:
    """ A version of a registered tool, which jobs refer to by id.

        Attributes:
            id (str): Id of the object.
            created_at (int): Unix seconds at which the object was made.
            updated_at (int): Creation time of this version.
            version (int): Number of the version, from 1.
            name (str): Name that no other object of this type in the project has.
            metadata (None | ToolMetadataType0): Up to 16 pairs of text of the user's own; the service does not read them.
            object_ (Literal['tool']): Type of the object; each type has one constant value. Default: 'tool'.
            server_url (str): Address that the calls are sent to, with query values redacted.
            headers (None | ToolHeadersType0): Headers sent with every call, each shown as `[redacted]`.
            description (None | str): Purpose of the tool, for readers; the model reads the row's own description.
            parameters (None | ToolParametersType0): JSON schema of the arguments.
            rate_limit (float | None): Limit of requests per second from jobs.
            warnings (list[RegistryWarning] | None | Unset): Parts of this request without effect; only in the reply to a
                create or an update.
            server_label (None | str | Unset): Label of the MCP server at `server_url` that answers the tool by its
                protocol.
     """

    id: str
    created_at: int
    updated_at: int
    version: int
    name: str
    metadata: None | ToolMetadataType0
    server_url: str
    headers: None | ToolHeadersType0
    description: None | str
    parameters: None | ToolParametersType0
    rate_limit: float | None
    object_: Literal['tool'] = 'tool'
    warnings: list[RegistryWarning] | None | Unset = UNSET
    server_label: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.registry_warning import RegistryWarning # noqa: PLC0415
        from ..models.tool_headers_type_0 import ToolHeadersType0 # noqa: PLC0415
        from ..models.tool_metadata_type_0 import ToolMetadataType0 # noqa: PLC0415
        from ..models.tool_parameters_type_0 import ToolParametersType0 # noqa: PLC0415
        id = self.id

        created_at = self.created_at

        updated_at = self.updated_at

        version = self.version

        name = self.name

        metadata: dict[str, Any] | None
        if isinstance(self.metadata, ToolMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        object_ = self.object_

        server_url = self.server_url

        headers: dict[str, Any] | None
        if isinstance(self.headers, ToolHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers

        description: None | str
        description = self.description

        parameters: dict[str, Any] | None
        if isinstance(self.parameters, ToolParametersType0):
            parameters = self.parameters.to_dict()
        else:
            parameters = self.parameters

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

        server_label: None | str | Unset
        if isinstance(self.server_label, Unset):
            server_label = UNSET
        else:
            server_label = self.server_label


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
            "server_url": server_url,
            "headers": headers,
            "description": description,
            "parameters": parameters,
            "rate_limit": rate_limit,
        })
        if warnings is not UNSET:
            field_dict["warnings"] = warnings
        if server_label is not UNSET:
            field_dict["server_label"] = server_label

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.registry_warning import RegistryWarning # noqa: PLC0415
        from ..models.tool_headers_type_0 import ToolHeadersType0 # noqa: PLC0415
        from ..models.tool_metadata_type_0 import ToolMetadataType0 # noqa: PLC0415
        from ..models.tool_parameters_type_0 import ToolParametersType0 # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        created_at = d.pop("created_at")

        updated_at = d.pop("updated_at")

        version = d.pop("version")

        name = d.pop("name")

        def _parse_metadata(data: object) -> None | ToolMetadataType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = ToolMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ToolMetadataType0, data)

        metadata = _parse_metadata(d.pop("metadata"))


        object_ = cast(Literal['tool'] , d.pop("object"))
        if object_ != 'tool':
            raise ValueError(f"object must match const 'tool', got '{object_}'")

        server_url = d.pop("server_url")

        def _parse_headers(data: object) -> None | ToolHeadersType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = ToolHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ToolHeadersType0, data)

        headers = _parse_headers(d.pop("headers"))


        def _parse_description(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        description = _parse_description(d.pop("description"))


        def _parse_parameters(data: object) -> None | ToolParametersType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                parameters_type_0 = ToolParametersType0.from_dict(data)



                return parameters_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ToolParametersType0, data)

        parameters = _parse_parameters(d.pop("parameters"))


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


        def _parse_server_label(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        server_label = _parse_server_label(d.pop("server_label", UNSET))


        tool = cls(
            id=id,
            created_at=created_at,
            updated_at=updated_at,
            version=version,
            name=name,
            metadata=metadata,
            object_=object_,
            server_url=server_url,
            headers=headers,
            description=description,
            parameters=parameters,
            rate_limit=rate_limit,
            warnings=warnings,
            server_label=server_label,
        )


        tool.additional_properties = d
        return tool

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
