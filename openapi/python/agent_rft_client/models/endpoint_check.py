from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast






T = TypeVar("T", bound="EndpointCheck")



@_attrs_define
class EndpointCheck:
    """ Result of a HEAD request to a customer's address, or of the listing of an MCP server; no tool
    is run.

        Attributes:
            param (str): The parameter of the create call with the address.
            name (str): Name of the tool or grader, or label of the MCP server.
            reachable (bool): True if it answered, whatever the status.
            status (int | None): HTTP status of the answer; `null` for an MCP server.
            latency_ms (float | None): Milliseconds until the answer.
            detail (None | str): The failure in a sentence.
     """

    param: str
    name: str
    reachable: bool
    status: int | None
    latency_ms: float | None
    detail: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        param = self.param

        name = self.name

        reachable = self.reachable

        status: int | None
        status = self.status

        latency_ms: float | None
        latency_ms = self.latency_ms

        detail: None | str
        detail = self.detail


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "param": param,
            "name": name,
            "reachable": reachable,
            "status": status,
            "latency_ms": latency_ms,
            "detail": detail,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        param = d.pop("param")

        name = d.pop("name")

        reachable = d.pop("reachable")

        def _parse_status(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        status = _parse_status(d.pop("status"))


        def _parse_latency_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        latency_ms = _parse_latency_ms(d.pop("latency_ms"))


        def _parse_detail(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        detail = _parse_detail(d.pop("detail"))


        endpoint_check = cls(
            param=param,
            name=name,
            reachable=reachable,
            status=status,
            latency_ms=latency_ms,
            detail=detail,
        )


        endpoint_check.additional_properties = d
        return endpoint_check

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
