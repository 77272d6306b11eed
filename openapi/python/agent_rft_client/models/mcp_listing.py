from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.mcp_resource import McpResource
  from ..models.mcp_tool import McpTool





T = TypeVar("T", bound="McpListing")



@_attrs_define
class McpListing:
    """ The tools of a server at the start of a job. Every rollout of the job is offered these.

        Attributes:
            protocol_version (str): Version of the protocol that server and service agreed on.
            tools (list[McpTool]): The tools that `allowed_tools` permits, in the server's order; the last one reads the
                resources, where they are offered.
            resources (list[McpResource] | Unset): The resources that the model can read; none where `resources` is not
                asked for.
     """

    protocol_version: str
    tools: list[McpTool]
    resources: list[McpResource] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.mcp_resource import McpResource # noqa: PLC0415
        from ..models.mcp_tool import McpTool # noqa: PLC0415
        protocol_version = self.protocol_version

        tools = []
        for tools_item_data in self.tools:
            tools_item = tools_item_data.to_dict()
            tools.append(tools_item)



        resources: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.resources, Unset):
            resources = []
            for resources_item_data in self.resources:
                resources_item = resources_item_data.to_dict()
                resources.append(resources_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "protocol_version": protocol_version,
            "tools": tools,
        })
        if resources is not UNSET:
            field_dict["resources"] = resources

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.mcp_resource import McpResource # noqa: PLC0415
        from ..models.mcp_tool import McpTool # noqa: PLC0415
        d = dict(src_dict)
        protocol_version = d.pop("protocol_version")

        tools = []
        _tools = d.pop("tools")
        for tools_item_data in (_tools):
            tools_item = McpTool.from_dict(tools_item_data)



            tools.append(tools_item)


        _resources = d.pop("resources", UNSET)
        resources: list[McpResource] | Unset = UNSET
        if _resources is not UNSET:
            resources = []
            for resources_item_data in _resources:
                resources_item = McpResource.from_dict(resources_item_data)



                resources.append(resources_item)


        mcp_listing = cls(
            protocol_version=protocol_version,
            tools=tools,
            resources=resources,
        )


        mcp_listing.additional_properties = d
        return mcp_listing

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
