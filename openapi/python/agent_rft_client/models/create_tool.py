from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.create_tool_headers_type_0 import CreateToolHeadersType0
  from ..models.create_tool_metadata_type_0 import CreateToolMetadataType0
  from ..models.create_tool_parameters_type_0 import CreateToolParametersType0





T = TypeVar("T", bound="CreateTool")



@_attrs_define
class CreateTool:
    """ A new registered tool.

        Attributes:
            name (str): Name that the model calls; no other tool of the project has it.
            server_url (str): Address that the calls are sent to.
            headers (CreateToolHeadersType0 | None | Unset): Headers sent with every call; stored encrypted, shown as
                `[redacted]`.
            description (None | str | Unset): Purpose of the tool, for readers; the model reads the row's own description.
            parameters (CreateToolParametersType0 | None | Unset): JSON schema of the arguments.
            rate_limit (float | None | Unset): Limit of requests per second from jobs.
            server_label (None | str | Unset): Label of the MCP server at `server_url` that answers the tool by its
                protocol; absent: an endpoint of its own.
            metadata (CreateToolMetadataType0 | None | Unset): Up to 16 pairs of text of the user's own; the service does
                not read them.
     """

    name: str
    server_url: str
    headers: CreateToolHeadersType0 | None | Unset = UNSET
    description: None | str | Unset = UNSET
    parameters: CreateToolParametersType0 | None | Unset = UNSET
    rate_limit: float | None | Unset = UNSET
    server_label: None | str | Unset = UNSET
    metadata: CreateToolMetadataType0 | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.create_tool_headers_type_0 import CreateToolHeadersType0 # noqa: PLC0415
        from ..models.create_tool_metadata_type_0 import CreateToolMetadataType0 # noqa: PLC0415
        from ..models.create_tool_parameters_type_0 import CreateToolParametersType0 # noqa: PLC0415
        name = self.name

        server_url = self.server_url

        headers: dict[str, Any] | None | Unset
        if isinstance(self.headers, Unset):
            headers = UNSET
        elif isinstance(self.headers, CreateToolHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        parameters: dict[str, Any] | None | Unset
        if isinstance(self.parameters, Unset):
            parameters = UNSET
        elif isinstance(self.parameters, CreateToolParametersType0):
            parameters = self.parameters.to_dict()
        else:
            parameters = self.parameters

        rate_limit: float | None | Unset
        if isinstance(self.rate_limit, Unset):
            rate_limit = UNSET
        else:
            rate_limit = self.rate_limit

        server_label: None | str | Unset
        if isinstance(self.server_label, Unset):
            server_label = UNSET
        else:
            server_label = self.server_label

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, CreateToolMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
            "server_url": server_url,
        })
        if headers is not UNSET:
            field_dict["headers"] = headers
        if description is not UNSET:
            field_dict["description"] = description
        if parameters is not UNSET:
            field_dict["parameters"] = parameters
        if rate_limit is not UNSET:
            field_dict["rate_limit"] = rate_limit
        if server_label is not UNSET:
            field_dict["server_label"] = server_label
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.create_tool_headers_type_0 import CreateToolHeadersType0 # noqa: PLC0415
        from ..models.create_tool_metadata_type_0 import CreateToolMetadataType0 # noqa: PLC0415
        from ..models.create_tool_parameters_type_0 import CreateToolParametersType0 # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("name")

        server_url = d.pop("server_url")

        def _parse_headers(data: object) -> CreateToolHeadersType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = CreateToolHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateToolHeadersType0 | None | Unset, data)

        headers = _parse_headers(d.pop("headers", UNSET))


        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))


        def _parse_parameters(data: object) -> CreateToolParametersType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                parameters_type_0 = CreateToolParametersType0.from_dict(data)



                return parameters_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateToolParametersType0 | None | Unset, data)

        parameters = _parse_parameters(d.pop("parameters", UNSET))


        def _parse_rate_limit(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        rate_limit = _parse_rate_limit(d.pop("rate_limit", UNSET))


        def _parse_server_label(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        server_label = _parse_server_label(d.pop("server_label", UNSET))


        def _parse_metadata(data: object) -> CreateToolMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CreateToolMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateToolMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        create_tool = cls(
            name=name,
            server_url=server_url,
            headers=headers,
            description=description,
            parameters=parameters,
            rate_limit=rate_limit,
            server_label=server_label,
            metadata=metadata,
        )


        create_tool.additional_properties = d
        return create_tool

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
