from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="EasyToHardOrdering")



@_attrs_define
class EasyToHardOrdering:
    """ Ordering `easy_to_hard`: each pass has every row once, those with the highest measured pass
    rate first. Before a row was played, 1 minus its `difficulty` counts, if it is a number from 0
    to 1; rows without either are in the middle.

        Attributes:
            type_ (Literal['easy_to_hard'] | Unset): Selects the kind of the object. Default: 'easy_to_hard'.
            pass_reward (float | None | Unset): Reward from which a rollout counts as passed. Without it, the pass rate of a
                row is its mean reward, as graders from 0 to 1 give it. It must be above the lowest score of the grader, and not
                above the highest.
     """

    type_: Literal['easy_to_hard'] | Unset = 'easy_to_hard'
    pass_reward: float | None | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        pass_reward: float | None | Unset
        if isinstance(self.pass_reward, Unset):
            pass_reward = UNSET
        else:
            pass_reward = self.pass_reward


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if type_ is not UNSET:
            field_dict["type"] = type_
        if pass_reward is not UNSET:
            field_dict["pass_reward"] = pass_reward

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['easy_to_hard'] | Unset , d.pop("type", UNSET))
        if type_ != 'easy_to_hard'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'easy_to_hard', got '{type_}'")

        def _parse_pass_reward(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        pass_reward = _parse_pass_reward(d.pop("pass_reward", UNSET))


        easy_to_hard_ordering = cls(
            type_=type_,
            pass_reward=pass_reward,
        )

        return easy_to_hard_ordering

