from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.coach_gain_kind import check_coach_gain_kind
from ..models.coach_gain_kind import CoachGainKind
from typing import cast






T = TypeVar("T", bound="CoachGain")



@_attrs_define
class CoachGain:
    """ The gain that practice of a slice of the rows is expected to bring.

        Attributes:
            kind (CoachGainKind): `tag`, `cluster` (similar texts) or `all`.
            name (str): The tag, or the words of similar texts.
            rows (int): Held-out rows of the slice.
            weight (float): Their share of all held-out rows.
            mean (float): Their mean score.
            headroom (float): Highest score that can be reached less the mean.
            spread (int): Rows whose attempts have different scores.
            gain (float): Weight × headroom × (spread + 1) / (rows + 2), halved for each round that did not help.
     """

    kind: CoachGainKind
    name: str
    rows: int
    weight: float
    mean: float
    headroom: float
    spread: int
    gain: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        kind: str = self.kind

        name = self.name

        rows = self.rows

        weight = self.weight

        mean = self.mean

        headroom = self.headroom

        spread = self.spread

        gain = self.gain


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "kind": kind,
            "name": name,
            "rows": rows,
            "weight": weight,
            "mean": mean,
            "headroom": headroom,
            "spread": spread,
            "gain": gain,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        kind = check_coach_gain_kind(d.pop("kind"))




        name = d.pop("name")

        rows = d.pop("rows")

        weight = d.pop("weight")

        mean = d.pop("mean")

        headroom = d.pop("headroom")

        spread = d.pop("spread")

        gain = d.pop("gain")

        coach_gain = cls(
            kind=kind,
            name=name,
            rows=rows,
            weight=weight,
            mean=mean,
            headroom=headroom,
            spread=spread,
            gain=gain,
        )


        coach_gain.additional_properties = d
        return coach_gain

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
