from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.coach_entry import CoachEntry





T = TypeVar("T", bound="PageCoachEntry")



@_attrs_define
class PageCoachEntry:
    """ A page of `CoachEntry` objects.

        Attributes:
            object_ (Literal['list']): Type of the object; each type has one constant value. Default: 'list'.
            data (list[CoachEntry]): The objects of this page.
            has_more (bool): True if a further page follows; request it with `after` set to `last_id`.
            first_id (None | str): Id of the first object; `null` on an empty page.
            last_id (None | str): Id of the last object; `null` on an empty page.
     """

    data: list[CoachEntry]
    has_more: bool
    first_id: None | str
    last_id: None | str
    object_: Literal['list'] = 'list'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.coach_entry import CoachEntry # noqa: PLC0415
        object_ = self.object_

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)



        has_more = self.has_more

        first_id: None | str
        first_id = self.first_id

        last_id: None | str
        last_id = self.last_id


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "data": data,
            "has_more": has_more,
            "first_id": first_id,
            "last_id": last_id,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.coach_entry import CoachEntry # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['list'] , d.pop("object"))
        if object_ != 'list':
            raise ValueError(f"object must match const 'list', got '{object_}'")

        data = []
        _data = d.pop("data")
        for data_item_data in (_data):
            data_item = CoachEntry.from_dict(data_item_data)



            data.append(data_item)


        has_more = d.pop("has_more")

        def _parse_first_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        first_id = _parse_first_id(d.pop("first_id"))


        def _parse_last_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        last_id = _parse_last_id(d.pop("last_id"))


        page_coach_entry = cls(
            object_=object_,
            data=data,
            has_more=has_more,
            first_id=first_id,
            last_id=last_id,
        )


        page_coach_entry.additional_properties = d
        return page_coach_entry

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
