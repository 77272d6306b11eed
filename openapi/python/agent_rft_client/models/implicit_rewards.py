from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="ImplicitRewards")



@_attrs_define
class ImplicitRewards:
    """ Values of the tuned model against the one that training started from, which has 0 of each by
    definition.

        Attributes:
            accuracy (float | None | Unset): Share of pairs whose preferred answer has the higher implicit reward.
            margin (float | None | Unset): Mean implicit reward of the preferred answer less that of the rejected one.
            chosen (float | None | Unset): Mean implicit reward of the preferred answers; below 0 they became less probable.
            rejected (float | None | Unset): Mean implicit reward of the rejected answers.
     """

    accuracy: float | None | Unset = UNSET
    margin: float | None | Unset = UNSET
    chosen: float | None | Unset = UNSET
    rejected: float | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        accuracy: float | None | Unset
        if isinstance(self.accuracy, Unset):
            accuracy = UNSET
        else:
            accuracy = self.accuracy

        margin: float | None | Unset
        if isinstance(self.margin, Unset):
            margin = UNSET
        else:
            margin = self.margin

        chosen: float | None | Unset
        if isinstance(self.chosen, Unset):
            chosen = UNSET
        else:
            chosen = self.chosen

        rejected: float | None | Unset
        if isinstance(self.rejected, Unset):
            rejected = UNSET
        else:
            rejected = self.rejected


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if accuracy is not UNSET:
            field_dict["accuracy"] = accuracy
        if margin is not UNSET:
            field_dict["margin"] = margin
        if chosen is not UNSET:
            field_dict["chosen"] = chosen
        if rejected is not UNSET:
            field_dict["rejected"] = rejected

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_accuracy(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        accuracy = _parse_accuracy(d.pop("accuracy", UNSET))


        def _parse_margin(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        margin = _parse_margin(d.pop("margin", UNSET))


        def _parse_chosen(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        chosen = _parse_chosen(d.pop("chosen", UNSET))


        def _parse_rejected(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        rejected = _parse_rejected(d.pop("rejected", UNSET))


        implicit_rewards = cls(
            accuracy=accuracy,
            margin=margin,
            chosen=chosen,
            rejected=rejected,
        )


        implicit_rewards.additional_properties = d
        return implicit_rewards

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
