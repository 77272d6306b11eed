from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.usage_bucket_object_completions_usage import UsageBucketObjectCompletionsUsage





T = TypeVar("T", bound="UsagePageObjectCompletionsUsage")



@_attrs_define
class UsagePageObjectCompletionsUsage:
    """ A page of buckets of `CompletionsUsage` objects, oldest first.

        Attributes:
            object_ (Literal['page']): Type of the object; each type has one constant value. Default: 'page'.
            data (list[UsageBucketObjectCompletionsUsage]): The buckets of this page.
            has_more (bool): True if a further page follows.
            next_page (None | str): Value of `page` for the following page; `null` on the last one.
     """

    data: list[UsageBucketObjectCompletionsUsage]
    has_more: bool
    next_page: None | str
    object_: Literal['page'] = 'page'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.usage_bucket_object_completions_usage import UsageBucketObjectCompletionsUsage # noqa: PLC0415
        object_ = self.object_

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)



        has_more = self.has_more

        next_page: None | str
        next_page = self.next_page


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "data": data,
            "has_more": has_more,
            "next_page": next_page,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.usage_bucket_object_completions_usage import UsageBucketObjectCompletionsUsage # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['page'] , d.pop("object"))
        if object_ != 'page':
            raise ValueError(f"object must match const 'page', got '{object_}'")

        data = []
        _data = d.pop("data")
        for data_item_data in (_data):
            data_item = UsageBucketObjectCompletionsUsage.from_dict(data_item_data)



            data.append(data_item)


        has_more = d.pop("has_more")

        def _parse_next_page(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        next_page = _parse_next_page(d.pop("next_page"))


        usage_page_object_completions_usage = cls(
            object_=object_,
            data=data,
            has_more=has_more,
            next_page=next_page,
        )


        usage_page_object_completions_usage.additional_properties = d
        return usage_page_object_completions_usage

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
