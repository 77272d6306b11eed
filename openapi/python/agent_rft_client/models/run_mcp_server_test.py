from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.mcp_server_spec import McpServerSpec
  from ..models.run_mcp_server_test_arguments_type_0 import RunMcpServerTestArgumentsType0





T = TypeVar("T", bound="RunMcpServerTest")



@_attrs_define
class RunMcpServerTest:
    """ An MCP server of a job, and the tool to call.

        Attributes:
            server (McpServerSpec): An MCP server whose tools the service lists and calls for the model, over streamable
                HTTP.
            tool (None | str | Unset): Name of a tool that is called twice with the same id; absent: none is called.
            arguments (None | RunMcpServerTestArgumentsType0 | Unset): Arguments of the call, only beside `tool`; absent:
                made up from the tool's schema.
     """

    server: McpServerSpec
    tool: None | str | Unset = UNSET
    arguments: None | RunMcpServerTestArgumentsType0 | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.mcp_server_spec import McpServerSpec # noqa: PLC0415
        from ..models.run_mcp_server_test_arguments_type_0 import RunMcpServerTestArgumentsType0 # noqa: PLC0415
        server = self.server.to_dict()

        tool: None | str | Unset
        if isinstance(self.tool, Unset):
            tool = UNSET
        else:
            tool = self.tool

        arguments: dict[str, Any] | None | Unset
        if isinstance(self.arguments, Unset):
            arguments = UNSET
        elif isinstance(self.arguments, RunMcpServerTestArgumentsType0):
            arguments = self.arguments.to_dict()
        else:
            arguments = self.arguments


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "server": server,
        })
        if tool is not UNSET:
            field_dict["tool"] = tool
        if arguments is not UNSET:
            field_dict["arguments"] = arguments

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.mcp_server_spec import McpServerSpec # noqa: PLC0415
        from ..models.run_mcp_server_test_arguments_type_0 import RunMcpServerTestArgumentsType0 # noqa: PLC0415
        d = dict(src_dict)
        server = McpServerSpec.from_dict(d.pop("server"))




        def _parse_tool(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        tool = _parse_tool(d.pop("tool", UNSET))


        def _parse_arguments(data: object) -> None | RunMcpServerTestArgumentsType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                arguments_type_0 = RunMcpServerTestArgumentsType0.from_dict(data)



                return arguments_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RunMcpServerTestArgumentsType0 | Unset, data)

        arguments = _parse_arguments(d.pop("arguments", UNSET))


        run_mcp_server_test = cls(
            server=server,
            tool=tool,
            arguments=arguments,
        )


        run_mcp_server_test.additional_properties = d
        return run_mcp_server_test

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
