from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.coach_entry_kind import check_coach_entry_kind
from ..models.coach_entry_kind import CoachEntryKind
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.coach_numbers import CoachNumbers





T = TypeVar("T", bound="CoachEntry")



@_attrs_define
class CoachEntry:
    """ One entry of a logbook: what the Coach did, with the numbers, and why.

        Attributes:
            id (str): The number as a text, for `after`.
            object_ (Literal['coach_session.entry']): Type of the object; each type has one constant value. Default:
                'coach_session.entry'.
            number (int): Place in the logbook, from 1.
            kind (CoachEntryKind): The step of the session that the entry is about.
            text (str): The entry in plain words.
            data (CoachNumbers): The numbers of an entry; each kind of entry has those that its text is about.
            created_at (int): Unix seconds at which the object was made.
     """

    id: str
    number: int
    kind: CoachEntryKind
    text: str
    data: CoachNumbers
    created_at: int
    object_: Literal['coach_session.entry'] = 'coach_session.entry'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.coach_numbers import CoachNumbers # noqa: PLC0415
        id = self.id

        object_ = self.object_

        number = self.number

        kind: str = self.kind

        text = self.text

        data = self.data.to_dict()

        created_at = self.created_at


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "number": number,
            "kind": kind,
            "text": text,
            "data": data,
            "created_at": created_at,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.coach_numbers import CoachNumbers # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['coach_session.entry'] , d.pop("object"))
        if object_ != 'coach_session.entry':
            raise ValueError(f"object must match const 'coach_session.entry', got '{object_}'")

        number = d.pop("number")

        kind = check_coach_entry_kind(d.pop("kind"))




        text = d.pop("text")

        data = CoachNumbers.from_dict(d.pop("data"))




        created_at = d.pop("created_at")

        coach_entry = cls(
            id=id,
            object_=object_,
            number=number,
            kind=kind,
            text=text,
            data=data,
            created_at=created_at,
        )


        coach_entry.additional_properties = d
        return coach_entry

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
