from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.update_tool_headers_type_0 import UpdateToolHeadersType0
  from ..models.update_tool_metadata_type_0 import UpdateToolMetadataType0
  from ..models.update_tool_parameters_type_0 import UpdateToolParametersType0





T = TypeVar("T", bound="UpdateTool")



@_attrs_define
class UpdateTool:
    """ Changes that make a new version of a tool; absent fields do not change, and `null`
    removes an optional key.

        Attributes:
            headers (None | Unset | UpdateToolHeadersType0): Headers sent with every call; stored encrypted, shown as
                `[redacted]`.
            description (None | str | Unset): Purpose of the tool, for readers; the model reads the row's own description.
            parameters (None | Unset | UpdateToolParametersType0): JSON schema of the arguments.
            rate_limit (float | None | Unset): Limit of requests per second from jobs.
            server_label (None | str | Unset): Label of the MCP server at `server_url` that answers the tool by its
                protocol; absent: an endpoint of its own.
            metadata (None | Unset | UpdateToolMetadataType0): Up to 16 pairs of text of the user's own; the service does
                not read them.
            name (None | str | Unset): Name that the model calls; no other tool of the project has it.
            server_url (None | str | Unset): Address that the calls are sent to.
     """

    headers: None | Unset | UpdateToolHeadersType0 = UNSET
    description: None | str | Unset = UNSET
    parameters: None | Unset | UpdateToolParametersType0 = UNSET
    rate_limit: float | None | Unset = UNSET
    server_label: None | str | Unset = UNSET
    metadata: None | Unset | UpdateToolMetadataType0 = UNSET
    name: None | str | Unset = UNSET
    server_url: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.update_tool_headers_type_0 import UpdateToolHeadersType0 # noqa: PLC0415
        from ..models.update_tool_metadata_type_0 import UpdateToolMetadataType0 # noqa: PLC0415
        from ..models.update_tool_parameters_type_0 import UpdateToolParametersType0 # noqa: PLC0415
        headers: dict[str, Any] | None | Unset
        if isinstance(self.headers, Unset):
            headers = UNSET
        elif isinstance(self.headers, UpdateToolHeadersType0):
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
        elif isinstance(self.parameters, UpdateToolParametersType0):
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
        elif isinstance(self.metadata, UpdateToolMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        server_url: None | str | Unset
        if isinstance(self.server_url, Unset):
            server_url = UNSET
        else:
            server_url = self.server_url


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
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
        if name is not UNSET:
            field_dict["name"] = name
        if server_url is not UNSET:
            field_dict["server_url"] = server_url

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.update_tool_headers_type_0 import UpdateToolHeadersType0 # noqa: PLC0415
        from ..models.update_tool_metadata_type_0 import UpdateToolMetadataType0 # noqa: PLC0415
        from ..models.update_tool_parameters_type_0 import UpdateToolParametersType0 # noqa: PLC0415
        d = dict(src_dict)
        def _parse_headers(data: object) -> None | Unset | UpdateToolHeadersType0:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = UpdateToolHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | UpdateToolHeadersType0, data)

        headers = _parse_headers(d.pop("headers", UNSET))


        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))


        def _parse_parameters(data: object) -> None | Unset | UpdateToolParametersType0:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                parameters_type_0 = UpdateToolParametersType0.from_dict(data)



                return parameters_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | UpdateToolParametersType0, data)

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


        def _parse_metadata(data: object) -> None | Unset | UpdateToolMetadataType0:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = UpdateToolMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | UpdateToolMetadataType0, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))


        def _parse_server_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        server_url = _parse_server_url(d.pop("server_url", UNSET))


        update_tool = cls(
            headers=headers,
            description=description,
            parameters=parameters,
            rate_limit=rate_limit,
            server_label=server_label,
            metadata=metadata,
            name=name,
            server_url=server_url,
        )


        update_tool.additional_properties = d
        return update_tool

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
