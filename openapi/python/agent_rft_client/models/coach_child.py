from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.coach_child_kind import check_coach_child_kind
from ..models.coach_child_kind import CoachChildKind
from typing import cast






T = TypeVar("T", bound="CoachChild")



@_attrs_define
class CoachChild:
    """ The job or skill that a session waits for.

        Attributes:
            kind (CoachChildKind): `job` for a fine-tuning job, `skill` for a skill at the gate.
            id (str): Id of the job or skill.
     """

    kind: CoachChildKind
    id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        kind: str = self.kind

        id = self.id


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "kind": kind,
            "id": id,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        kind = check_coach_child_kind(d.pop("kind"))




        id = d.pop("id")

        coach_child = cls(
            kind=kind,
            id=id,
        )


        coach_child.additional_properties = d
        return coach_child

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
