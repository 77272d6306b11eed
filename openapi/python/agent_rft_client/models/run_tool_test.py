from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.run_tool_test_arguments_type_0 import RunToolTestArgumentsType0
  from ..models.run_tool_test_item_type_0 import RunToolTestItemType0





T = TypeVar("T", bound="RunToolTest")



@_attrs_define
class RunToolTest:
    """ Calls that a test sends to a registered tool.

        Attributes:
            arguments (None | RunToolTestArgumentsType0 | Unset): Arguments that the tool accepts; when absent, they are
                generated from its `parameters`.
            item (None | RunToolTestItemType0 | Unset): The row that is sent with each call.
            requests (int | Unset): Number of calls that measure latency. Default: 20.
            rate (float | Unset): Calls per second. Default: 10.0.
     """

    arguments: None | RunToolTestArgumentsType0 | Unset = UNSET
    item: None | RunToolTestItemType0 | Unset = UNSET
    requests: int | Unset = 20
    rate: float | Unset = 10.0
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.run_tool_test_arguments_type_0 import RunToolTestArgumentsType0 # noqa: PLC0415
        from ..models.run_tool_test_item_type_0 import RunToolTestItemType0 # noqa: PLC0415
        arguments: dict[str, Any] | None | Unset
        if isinstance(self.arguments, Unset):
            arguments = UNSET
        elif isinstance(self.arguments, RunToolTestArgumentsType0):
            arguments = self.arguments.to_dict()
        else:
            arguments = self.arguments

        item: dict[str, Any] | None | Unset
        if isinstance(self.item, Unset):
            item = UNSET
        elif isinstance(self.item, RunToolTestItemType0):
            item = self.item.to_dict()
        else:
            item = self.item

        requests = self.requests

        rate = self.rate


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if arguments is not UNSET:
            field_dict["arguments"] = arguments
        if item is not UNSET:
            field_dict["item"] = item
        if requests is not UNSET:
            field_dict["requests"] = requests
        if rate is not UNSET:
            field_dict["rate"] = rate

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.run_tool_test_arguments_type_0 import RunToolTestArgumentsType0 # noqa: PLC0415
        from ..models.run_tool_test_item_type_0 import RunToolTestItemType0 # noqa: PLC0415
        d = dict(src_dict)
        def _parse_arguments(data: object) -> None | RunToolTestArgumentsType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                arguments_type_0 = RunToolTestArgumentsType0.from_dict(data)



                return arguments_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RunToolTestArgumentsType0 | Unset, data)

        arguments = _parse_arguments(d.pop("arguments", UNSET))


        def _parse_item(data: object) -> None | RunToolTestItemType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                item_type_0 = RunToolTestItemType0.from_dict(data)



                return item_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RunToolTestItemType0 | Unset, data)

        item = _parse_item(d.pop("item", UNSET))


        requests = d.pop("requests", UNSET)

        rate = d.pop("rate", UNSET)

        run_tool_test = cls(
            arguments=arguments,
            item=item,
            requests=requests,
            rate=rate,
        )


        run_tool_test.additional_properties = d
        return run_tool_test

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
