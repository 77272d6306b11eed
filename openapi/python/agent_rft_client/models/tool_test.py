from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.tool_check import ToolCheck





T = TypeVar("T", bound="ToolTest")



@_attrs_define
class ToolTest:
    """ Results of the checks of a registered tool.

        Attributes:
            object_ (Literal['tool.test']): Type of the object; each type has one constant value. Default: 'tool.test'.
            tool_id (str): Id of the tool.
            version (int): Number of the version, from 1.
            name (str): Name that the model calls.
            server_url (str): Address that was called.
            created_at (int): Unix seconds at which the object was made.
            duration_ms (float): Milliseconds of the whole test.
            calls (int): Number of calls that were made.
            passed (bool): True when no check failed.
            checks (list[ToolCheck]): The checks, in the order in which they ran.
     """

    tool_id: str
    version: int
    name: str
    server_url: str
    created_at: int
    duration_ms: float
    calls: int
    passed: bool
    checks: list[ToolCheck]
    object_: Literal['tool.test'] = 'tool.test'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.tool_check import ToolCheck # noqa: PLC0415
        object_ = self.object_

        tool_id = self.tool_id

        version = self.version

        name = self.name

        server_url = self.server_url

        created_at = self.created_at

        duration_ms = self.duration_ms

        calls = self.calls

        passed = self.passed

        checks = []
        for checks_item_data in self.checks:
            checks_item = checks_item_data.to_dict()
            checks.append(checks_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "tool_id": tool_id,
            "version": version,
            "name": name,
            "server_url": server_url,
            "created_at": created_at,
            "duration_ms": duration_ms,
            "calls": calls,
            "passed": passed,
            "checks": checks,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.tool_check import ToolCheck # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['tool.test'] , d.pop("object"))
        if object_ != 'tool.test':
            raise ValueError(f"object must match const 'tool.test', got '{object_}'")

        tool_id = d.pop("tool_id")

        version = d.pop("version")

        name = d.pop("name")

        server_url = d.pop("server_url")

        created_at = d.pop("created_at")

        duration_ms = d.pop("duration_ms")

        calls = d.pop("calls")

        passed = d.pop("passed")

        checks = []
        _checks = d.pop("checks")
        for checks_item_data in (_checks):
            checks_item = ToolCheck.from_dict(checks_item_data)



            checks.append(checks_item)


        tool_test = cls(
            object_=object_,
            tool_id=tool_id,
            version=version,
            name=name,
            server_url=server_url,
            created_at=created_at,
            duration_ms=duration_ms,
            calls=calls,
            passed=passed,
            checks=checks,
        )


        tool_test.additional_properties = d
        return tool_test

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
