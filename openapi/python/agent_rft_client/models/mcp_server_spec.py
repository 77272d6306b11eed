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
  from ..models.allowed_tools import AllowedTools
  from ..models.mcp_listing import McpListing
  from ..models.mcp_listing_summary import McpListingSummary
  from ..models.mcp_server_spec_headers_type_0 import McpServerSpecHeadersType0





T = TypeVar("T", bound="McpServerSpec")



@_attrs_define
class McpServerSpec:
    """ An MCP server whose tools the service lists and calls for the model, over streamable HTTP.

        Attributes:
            server_label (str): Name of the server in messages; unique in the job.
            server_url (str): Address of the server.
            type_ (Literal['mcp'] | Unset): Selects the kind of the object. Default: 'mcp'.
            headers (McpServerSpecHeadersType0 | None | Unset): Headers sent with every request; stored encrypted, shown as
                `[redacted]`.
            authorization (None | str | Unset): Token that is sent as `Authorization: Bearer …`; stored encrypted, shown as
                `[redacted]`.
            allowed_tools (AllowedTools | list[str] | None | Unset): Names of the tools to offer, or a filter; absent: all.
                A name that the server does not list is an error.
            require_approval (Literal['never'] | None | Unset): Only `never`, which is also the default: no one approves a
                call during a rollout.
            resources (bool | Unset): True: the server's resources and resource templates are listed too, and the model is
                offered a tool `read_{server_label}` that reads them (an extension). Default: False.
            rate_limit (float | None | Unset): Limit of requests per second (an extension).
            listing (McpListing | None | Unset): The tools as the job's first run listed them; set by the service, and shown
                only in a single job (an extension).
            listing_summary (McpListingSummary | None | Unset): The summary of the listing, which lists of jobs show too;
                set by the service (an extension).
     """

    server_label: str
    server_url: str
    type_: Literal['mcp'] | Unset = 'mcp'
    headers: McpServerSpecHeadersType0 | None | Unset = UNSET
    authorization: None | str | Unset = UNSET
    allowed_tools: AllowedTools | list[str] | None | Unset = UNSET
    require_approval: Literal['never'] | None | Unset = UNSET
    resources: bool | Unset = False
    rate_limit: float | None | Unset = UNSET
    listing: McpListing | None | Unset = UNSET
    listing_summary: McpListingSummary | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.allowed_tools import AllowedTools # noqa: PLC0415
        from ..models.mcp_listing import McpListing # noqa: PLC0415
        from ..models.mcp_listing_summary import McpListingSummary # noqa: PLC0415
        from ..models.mcp_server_spec_headers_type_0 import McpServerSpecHeadersType0 # noqa: PLC0415
        server_label = self.server_label

        server_url = self.server_url

        type_ = self.type_

        headers: dict[str, Any] | None | Unset
        if isinstance(self.headers, Unset):
            headers = UNSET
        elif isinstance(self.headers, McpServerSpecHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers

        authorization: None | str | Unset
        if isinstance(self.authorization, Unset):
            authorization = UNSET
        else:
            authorization = self.authorization

        allowed_tools: dict[str, Any] | list[str] | None | Unset
        if isinstance(self.allowed_tools, Unset):
            allowed_tools = UNSET
        elif isinstance(self.allowed_tools, list):
            allowed_tools = self.allowed_tools


        elif isinstance(self.allowed_tools, AllowedTools):
            allowed_tools = self.allowed_tools.to_dict()
        else:
            allowed_tools = self.allowed_tools

        require_approval: Literal['never'] | None | Unset
        if isinstance(self.require_approval, Unset):
            require_approval = UNSET
        else:
            require_approval = self.require_approval

        resources = self.resources

        rate_limit: float | None | Unset
        if isinstance(self.rate_limit, Unset):
            rate_limit = UNSET
        else:
            rate_limit = self.rate_limit

        listing: dict[str, Any] | None | Unset
        if isinstance(self.listing, Unset):
            listing = UNSET
        elif isinstance(self.listing, McpListing):
            listing = self.listing.to_dict()
        else:
            listing = self.listing

        listing_summary: dict[str, Any] | None | Unset
        if isinstance(self.listing_summary, Unset):
            listing_summary = UNSET
        elif isinstance(self.listing_summary, McpListingSummary):
            listing_summary = self.listing_summary.to_dict()
        else:
            listing_summary = self.listing_summary


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "server_label": server_label,
            "server_url": server_url,
        })
        if type_ is not UNSET:
            field_dict["type"] = type_
        if headers is not UNSET:
            field_dict["headers"] = headers
        if authorization is not UNSET:
            field_dict["authorization"] = authorization
        if allowed_tools is not UNSET:
            field_dict["allowed_tools"] = allowed_tools
        if require_approval is not UNSET:
            field_dict["require_approval"] = require_approval
        if resources is not UNSET:
            field_dict["resources"] = resources
        if rate_limit is not UNSET:
            field_dict["rate_limit"] = rate_limit
        if listing is not UNSET:
            field_dict["listing"] = listing
        if listing_summary is not UNSET:
            field_dict["listing_summary"] = listing_summary

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.allowed_tools import AllowedTools # noqa: PLC0415
        from ..models.mcp_listing import McpListing # noqa: PLC0415
        from ..models.mcp_listing_summary import McpListingSummary # noqa: PLC0415
        from ..models.mcp_server_spec_headers_type_0 import McpServerSpecHeadersType0 # noqa: PLC0415
        d = dict(src_dict)
        server_label = d.pop("server_label")

        server_url = d.pop("server_url")

        type_ = cast(Literal['mcp'] | Unset , d.pop("type", UNSET))
        if type_ != 'mcp'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'mcp', got '{type_}'")

        def _parse_headers(data: object) -> McpServerSpecHeadersType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = McpServerSpecHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(McpServerSpecHeadersType0 | None | Unset, data)

        headers = _parse_headers(d.pop("headers", UNSET))


        def _parse_authorization(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        authorization = _parse_authorization(d.pop("authorization", UNSET))


        def _parse_allowed_tools(data: object) -> AllowedTools | list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                allowed_tools_type_0 = cast(list[str], data)

                return allowed_tools_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                allowed_tools_type_1 = AllowedTools.from_dict(data)



                return allowed_tools_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AllowedTools | list[str] | None | Unset, data)

        allowed_tools = _parse_allowed_tools(d.pop("allowed_tools", UNSET))


        def _parse_require_approval(data: object) -> Literal['never'] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            require_approval_type_0 = cast(Literal['never'] , data)
            if require_approval_type_0 != 'never':
                raise ValueError(f"require_approval_type_0 must match const 'never', got '{require_approval_type_0}'")
            return require_approval_type_0
            return cast(Literal['never'] | None | Unset, data)

        require_approval = _parse_require_approval(d.pop("require_approval", UNSET))


        resources = d.pop("resources", UNSET)

        def _parse_rate_limit(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        rate_limit = _parse_rate_limit(d.pop("rate_limit", UNSET))


        def _parse_listing(data: object) -> McpListing | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                listing_type_0 = McpListing.from_dict(data)



                return listing_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(McpListing | None | Unset, data)

        listing = _parse_listing(d.pop("listing", UNSET))


        def _parse_listing_summary(data: object) -> McpListingSummary | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                listing_summary_type_0 = McpListingSummary.from_dict(data)



                return listing_summary_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(McpListingSummary | None | Unset, data)

        listing_summary = _parse_listing_summary(d.pop("listing_summary", UNSET))


        mcp_server_spec = cls(
            server_label=server_label,
            server_url=server_url,
            type_=type_,
            headers=headers,
            authorization=authorization,
            allowed_tools=allowed_tools,
            require_approval=require_approval,
            resources=resources,
            rate_limit=rate_limit,
            listing=listing,
            listing_summary=listing_summary,
        )


        mcp_server_spec.additional_properties = d
        return mcp_server_spec

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
