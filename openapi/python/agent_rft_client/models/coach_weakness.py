from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.coach_weakness_kind import check_coach_weakness_kind
from ..models.coach_weakness_kind import CoachWeaknessKind
from typing import cast






T = TypeVar("T", bound="CoachWeakness")



@_attrs_define
class CoachWeakness:
    """ A slice of the rows, or a kind of attempt, that clearly lacks score.

        Attributes:
            kind (CoachWeaknessKind): `tag`, `cluster` (similar texts) or `all` for a slice of the rows; else a kind of
                attempt.
            name (str): The tag, the words of similar texts, the component, the stop reason, or the tool.
            rows (int): Rows that were compared.
            share (float): Lacking share of the score's range, or share of the attempts: 0 to 1.
            interval (list[float]): Interval of the share, which allows for all slices and kinds that were compared.
            mean (float | None): Mean score of the slice, or of the attempts of that kind.
            examples (list[str]): Ids of rollouts with the lowest scores, in the job of `measured_in`.
     """

    kind: CoachWeaknessKind
    name: str
    rows: int
    share: float
    interval: list[float]
    mean: float | None
    examples: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        kind: str = self.kind

        name = self.name

        rows = self.rows

        share = self.share

        interval = self.interval



        mean: float | None
        mean = self.mean

        examples = self.examples




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "kind": kind,
            "name": name,
            "rows": rows,
            "share": share,
            "interval": interval,
            "mean": mean,
            "examples": examples,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        kind = check_coach_weakness_kind(d.pop("kind"))




        name = d.pop("name")

        rows = d.pop("rows")

        share = d.pop("share")

        interval = cast(list[float], d.pop("interval"))


        def _parse_mean(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        mean = _parse_mean(d.pop("mean"))


        examples = cast(list[str], d.pop("examples"))


        coach_weakness = cls(
            kind=kind,
            name=name,
            rows=rows,
            share=share,
            interval=interval,
            mean=mean,
            examples=examples,
        )


        coach_weakness.additional_properties = d
        return coach_weakness

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
