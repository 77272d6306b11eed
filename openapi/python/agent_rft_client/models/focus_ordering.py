from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="FocusOrdering")



@_attrs_define
class FocusOrdering:
    """ Ordering `focus`: steps take rows whose pass rate is between `low` and `high`, where rollouts
    of a group differ most. A part of the rows is measured anew, those first that were played
    longest ago. A pass has as many rows as under `uniform`, and not every row.

        Attributes:
            type_ (Literal['focus'] | Unset): Selects the kind of the object. Default: 'focus'.
            pass_reward (float | None | Unset): Reward from which a rollout counts as passed. Without it, the pass rate of a
                row is its mean reward, as graders from 0 to 1 give it. It must be above the lowest score of the grader, and not
                above the highest.
            low (float | Unset): Lowest pass rate of the rows that are practised. Default: 0.2.
            high (float | Unset): Highest pass rate of the rows that are practised. Default: 0.8.
            measured_share (float | Unset): Share of the rows of all steps together that are outside these limits, which
                measures them anew. Default: 0.25.
     """

    type_: Literal['focus'] | Unset = 'focus'
    pass_reward: float | None | Unset = UNSET
    low: float | Unset = 0.2
    high: float | Unset = 0.8
    measured_share: float | Unset = 0.25





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        pass_reward: float | None | Unset
        if isinstance(self.pass_reward, Unset):
            pass_reward = UNSET
        else:
            pass_reward = self.pass_reward

        low = self.low

        high = self.high

        measured_share = self.measured_share


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if type_ is not UNSET:
            field_dict["type"] = type_
        if pass_reward is not UNSET:
            field_dict["pass_reward"] = pass_reward
        if low is not UNSET:
            field_dict["low"] = low
        if high is not UNSET:
            field_dict["high"] = high
        if measured_share is not UNSET:
            field_dict["measured_share"] = measured_share

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['focus'] | Unset , d.pop("type", UNSET))
        if type_ != 'focus'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'focus', got '{type_}'")

        def _parse_pass_reward(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        pass_reward = _parse_pass_reward(d.pop("pass_reward", UNSET))


        low = d.pop("low", UNSET)

        high = d.pop("high", UNSET)

        measured_share = d.pop("measured_share", UNSET)

        focus_ordering = cls(
            type_=type_,
            pass_reward=pass_reward,
            low=low,
            high=high,
            measured_share=measured_share,
        )

        return focus_ordering

