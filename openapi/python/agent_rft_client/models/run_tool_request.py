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
  from ..models.run_tool_request_headers_type_0 import RunToolRequestHeadersType0
  from ..models.run_tool_request_item_type_0 import RunToolRequestItemType0





T = TypeVar("T", bound="RunToolRequest")



@_attrs_define
class RunToolRequest:
    """ A tool call as training sends it, with the URL of the tool.

        Attributes:
            name (str): Name of the tool.
            server_url (str): Address of the tool.
            arguments (str): JSON as text.
            type_ (Literal['function_call'] | Unset): As in the calls of training. Default: 'function_call'.
            headers (None | RunToolRequestHeadersType0 | Unset): Headers that are sent to it.
            item (None | RunToolRequestItemType0 | Unset): The row that is sent with the call.
            trace_id (None | str | Unset): Rollout id to send with the call.
            id (None | str | Unset): Id of the call's message.
            call_id (None | str | Unset): Id of the call.
     """

    name: str
    server_url: str
    arguments: str
    type_: Literal['function_call'] | Unset = 'function_call'
    headers: None | RunToolRequestHeadersType0 | Unset = UNSET
    item: None | RunToolRequestItemType0 | Unset = UNSET
    trace_id: None | str | Unset = UNSET
    id: None | str | Unset = UNSET
    call_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.run_tool_request_headers_type_0 import RunToolRequestHeadersType0 # noqa: PLC0415
        from ..models.run_tool_request_item_type_0 import RunToolRequestItemType0 # noqa: PLC0415
        name = self.name

        server_url = self.server_url

        arguments = self.arguments

        type_ = self.type_

        headers: dict[str, Any] | None | Unset
        if isinstance(self.headers, Unset):
            headers = UNSET
        elif isinstance(self.headers, RunToolRequestHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers

        item: dict[str, Any] | None | Unset
        if isinstance(self.item, Unset):
            item = UNSET
        elif isinstance(self.item, RunToolRequestItemType0):
            item = self.item.to_dict()
        else:
            item = self.item

        trace_id: None | str | Unset
        if isinstance(self.trace_id, Unset):
            trace_id = UNSET
        else:
            trace_id = self.trace_id

        id: None | str | Unset
        if isinstance(self.id, Unset):
            id = UNSET
        else:
            id = self.id

        call_id: None | str | Unset
        if isinstance(self.call_id, Unset):
            call_id = UNSET
        else:
            call_id = self.call_id


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
            "server_url": server_url,
            "arguments": arguments,
        })
        if type_ is not UNSET:
            field_dict["type"] = type_
        if headers is not UNSET:
            field_dict["headers"] = headers
        if item is not UNSET:
            field_dict["item"] = item
        if trace_id is not UNSET:
            field_dict["trace_id"] = trace_id
        if id is not UNSET:
            field_dict["id"] = id
        if call_id is not UNSET:
            field_dict["call_id"] = call_id

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.run_tool_request_headers_type_0 import RunToolRequestHeadersType0 # noqa: PLC0415
        from ..models.run_tool_request_item_type_0 import RunToolRequestItemType0 # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("name")

        server_url = d.pop("server_url")

        arguments = d.pop("arguments")

        type_ = cast(Literal['function_call'] | Unset , d.pop("type", UNSET))
        if type_ != 'function_call'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'function_call', got '{type_}'")

        def _parse_headers(data: object) -> None | RunToolRequestHeadersType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = RunToolRequestHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RunToolRequestHeadersType0 | Unset, data)

        headers = _parse_headers(d.pop("headers", UNSET))


        def _parse_item(data: object) -> None | RunToolRequestItemType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                item_type_0 = RunToolRequestItemType0.from_dict(data)



                return item_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RunToolRequestItemType0 | Unset, data)

        item = _parse_item(d.pop("item", UNSET))


        def _parse_trace_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        trace_id = _parse_trace_id(d.pop("trace_id", UNSET))


        def _parse_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        id = _parse_id(d.pop("id", UNSET))


        def _parse_call_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        call_id = _parse_call_id(d.pop("call_id", UNSET))


        run_tool_request = cls(
            name=name,
            server_url=server_url,
            arguments=arguments,
            type_=type_,
            headers=headers,
            item=item,
            trace_id=trace_id,
            id=id,
            call_id=call_id,
        )


        run_tool_request.additional_properties = d
        return run_tool_request

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
