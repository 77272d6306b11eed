from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.import_mcp_server_tools_metadata_type_0 import ImportMcpServerToolsMetadataType0
  from ..models.mcp_server_spec import McpServerSpec





T = TypeVar("T", bound="ImportMcpServerTools")



@_attrs_define
class ImportMcpServerTools:
    """ An MCP server whose tools are registered.

        Attributes:
            server (McpServerSpec): An MCP server whose tools the service lists and calls for the model, over streamable
                HTTP.
            metadata (ImportMcpServerToolsMetadataType0 | None | Unset): Metadata of each registered tool.
     """

    server: McpServerSpec
    metadata: ImportMcpServerToolsMetadataType0 | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.import_mcp_server_tools_metadata_type_0 import ImportMcpServerToolsMetadataType0 # noqa: PLC0415
        from ..models.mcp_server_spec import McpServerSpec # noqa: PLC0415
        server = self.server.to_dict()

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, ImportMcpServerToolsMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "server": server,
        })
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.import_mcp_server_tools_metadata_type_0 import ImportMcpServerToolsMetadataType0 # noqa: PLC0415
        from ..models.mcp_server_spec import McpServerSpec # noqa: PLC0415
        d = dict(src_dict)
        server = McpServerSpec.from_dict(d.pop("server"))




        def _parse_metadata(data: object) -> ImportMcpServerToolsMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = ImportMcpServerToolsMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ImportMcpServerToolsMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        import_mcp_server_tools = cls(
            server=server,
            metadata=metadata,
        )


        import_mcp_server_tools.additional_properties = d
        return import_mcp_server_tools

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
