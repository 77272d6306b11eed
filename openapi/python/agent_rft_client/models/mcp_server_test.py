from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.mcp_resource import McpResource
  from ..models.mcp_tool import McpTool
  from ..models.tool_check import ToolCheck





T = TypeVar("T", bound="McpServerTest")



@_attrs_define
class McpServerTest:
    """ Results of the checks of an MCP server.

        Attributes:
            object_ (Literal['mcp_server.test']): Type of the object; each type has one constant value. Default:
                'mcp_server.test'.
            server_label (str): Label of the server.
            server_url (str): Address that was called.
            created_at (int): Unix seconds at which the object was made.
            duration_ms (float): Milliseconds of the whole test.
            protocol_version (None | str): Version of the protocol that both sides speak; `null` if the tools could not be
                listed.
            tools (list[McpTool]): The tools that a job would offer.
            resources (list[McpResource]): The resources that the model could read; none without `resources` in the server.
            passed (bool): True when no check failed.
            checks (list[ToolCheck]): The checks, in the order in which they ran.
     """

    server_label: str
    server_url: str
    created_at: int
    duration_ms: float
    protocol_version: None | str
    tools: list[McpTool]
    resources: list[McpResource]
    passed: bool
    checks: list[ToolCheck]
    object_: Literal['mcp_server.test'] = 'mcp_server.test'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.mcp_resource import McpResource # noqa: PLC0415
        from ..models.mcp_tool import McpTool # noqa: PLC0415
        from ..models.tool_check import ToolCheck # noqa: PLC0415
        object_ = self.object_

        server_label = self.server_label

        server_url = self.server_url

        created_at = self.created_at

        duration_ms = self.duration_ms

        protocol_version: None | str
        protocol_version = self.protocol_version

        tools = []
        for tools_item_data in self.tools:
            tools_item = tools_item_data.to_dict()
            tools.append(tools_item)



        resources = []
        for resources_item_data in self.resources:
            resources_item = resources_item_data.to_dict()
            resources.append(resources_item)



        passed = self.passed

        checks = []
        for checks_item_data in self.checks:
            checks_item = checks_item_data.to_dict()
            checks.append(checks_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "server_label": server_label,
            "server_url": server_url,
            "created_at": created_at,
            "duration_ms": duration_ms,
            "protocol_version": protocol_version,
            "tools": tools,
            "resources": resources,
            "passed": passed,
            "checks": checks,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.mcp_resource import McpResource # noqa: PLC0415
        from ..models.mcp_tool import McpTool # noqa: PLC0415
        from ..models.tool_check import ToolCheck # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['mcp_server.test'] , d.pop("object"))
        if object_ != 'mcp_server.test':
            raise ValueError(f"object must match const 'mcp_server.test', got '{object_}'")

        server_label = d.pop("server_label")

        server_url = d.pop("server_url")

        created_at = d.pop("created_at")

        duration_ms = d.pop("duration_ms")

        def _parse_protocol_version(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        protocol_version = _parse_protocol_version(d.pop("protocol_version"))


        tools = []
        _tools = d.pop("tools")
        for tools_item_data in (_tools):
            tools_item = McpTool.from_dict(tools_item_data)



            tools.append(tools_item)


        resources = []
        _resources = d.pop("resources")
        for resources_item_data in (_resources):
            resources_item = McpResource.from_dict(resources_item_data)



            resources.append(resources_item)


        passed = d.pop("passed")

        checks = []
        _checks = d.pop("checks")
        for checks_item_data in (_checks):
            checks_item = ToolCheck.from_dict(checks_item_data)



            checks.append(checks_item)


        mcp_server_test = cls(
            object_=object_,
            server_label=server_label,
            server_url=server_url,
            created_at=created_at,
            duration_ms=duration_ms,
            protocol_version=protocol_version,
            tools=tools,
            resources=resources,
            passed=passed,
            checks=checks,
        )


        mcp_server_test.additional_properties = d
        return mcp_server_test

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
