from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.completions_usage import CompletionsUsage





T = TypeVar("T", bound="UsageBucketObjectCompletionsUsage")



@_attrs_define
class UsageBucketObjectCompletionsUsage:
    """ The `CompletionsUsage` objects of a minute, an hour or a day.

        Attributes:
            object_ (Literal['bucket']): Type of the object; each type has one constant value. Default: 'bucket'.
            start_time (int): Unix seconds at which the bucket begins: a whole minute, hour or day (UTC), or the minute of
                the call's `start_time`.
            end_time (int): Unix seconds at which it has ended.
            results (list[CompletionsUsage]): A result for each group; empty without usage.
     """

    start_time: int
    end_time: int
    results: list[CompletionsUsage]
    object_: Literal['bucket'] = 'bucket'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.completions_usage import CompletionsUsage # noqa: PLC0415
        object_ = self.object_

        start_time = self.start_time

        end_time = self.end_time

        results = []
        for results_item_data in self.results:
            results_item = results_item_data.to_dict()
            results.append(results_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "start_time": start_time,
            "end_time": end_time,
            "results": results,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.completions_usage import CompletionsUsage # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['bucket'] , d.pop("object"))
        if object_ != 'bucket':
            raise ValueError(f"object must match const 'bucket', got '{object_}'")

        start_time = d.pop("start_time")

        end_time = d.pop("end_time")

        results = []
        _results = d.pop("results")
        for results_item_data in (_results):
            results_item = CompletionsUsage.from_dict(results_item_data)



            results.append(results_item)


        usage_bucket_object_completions_usage = cls(
            object_=object_,
            start_time=start_time,
            end_time=end_time,
            results=results,
        )


        usage_bucket_object_completions_usage.additional_properties = d
        return usage_bucket_object_completions_usage

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
