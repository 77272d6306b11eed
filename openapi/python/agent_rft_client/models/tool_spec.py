from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.tool_spec_headers_type_0 import ToolSpecHeadersType0





T = TypeVar("T", bound="ToolSpec")



@_attrs_define
class ToolSpec:
    """ One tool: the name that a model calls, and the endpoint that answers.

        Attributes:
            name (str): Name that the model calls; rows offer it with its schema.
            server_url (str): Address that the calls are sent to.
            headers (None | ToolSpecHeadersType0 | Unset): Headers sent with every call; stored encrypted, shown as
                `[redacted]`.
     """

    name: str
    server_url: str
    headers: None | ToolSpecHeadersType0 | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.tool_spec_headers_type_0 import ToolSpecHeadersType0 # noqa: PLC0415
        name = self.name

        server_url = self.server_url

        headers: dict[str, Any] | None | Unset
        if isinstance(self.headers, Unset):
            headers = UNSET
        elif isinstance(self.headers, ToolSpecHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
            "server_url": server_url,
        })
        if headers is not UNSET:
            field_dict["headers"] = headers

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.tool_spec_headers_type_0 import ToolSpecHeadersType0 # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("name")

        server_url = d.pop("server_url")

        def _parse_headers(data: object) -> None | ToolSpecHeadersType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = ToolSpecHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ToolSpecHeadersType0 | Unset, data)

        headers = _parse_headers(d.pop("headers", UNSET))


        tool_spec = cls(
            name=name,
            server_url=server_url,
            headers=headers,
        )


        tool_spec.additional_properties = d
        return tool_spec

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
