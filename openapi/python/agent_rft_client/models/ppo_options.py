from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="PpoOptions")



@_attrs_define
class PpoOptions:
    """ PPO: clips the ratio of policies.

        Attributes:
            type_ (Literal['ppo'] | Unset): Selects the kind of the object. Default: 'ppo'.
            epsilon (float | Unset): Largest distance of a token's ratio from 1 at which it still has a gradient. Default:
                0.2.
            epsilon_high (float | None | Unset): The same limit for ratios above 1, if it differs; 0.28 is "clip higher".
            dual_clip (float | None | Unset): Ratio beyond which a token of negative advantage has no gradient either;
                usually 3.
     """

    type_: Literal['ppo'] | Unset = 'ppo'
    epsilon: float | Unset = 0.2
    epsilon_high: float | None | Unset = UNSET
    dual_clip: float | None | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        epsilon = self.epsilon

        epsilon_high: float | None | Unset
        if isinstance(self.epsilon_high, Unset):
            epsilon_high = UNSET
        else:
            epsilon_high = self.epsilon_high

        dual_clip: float | None | Unset
        if isinstance(self.dual_clip, Unset):
            dual_clip = UNSET
        else:
            dual_clip = self.dual_clip


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if type_ is not UNSET:
            field_dict["type"] = type_
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if epsilon_high is not UNSET:
            field_dict["epsilon_high"] = epsilon_high
        if dual_clip is not UNSET:
            field_dict["dual_clip"] = dual_clip

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['ppo'] | Unset , d.pop("type", UNSET))
        if type_ != 'ppo'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'ppo', got '{type_}'")

        epsilon = d.pop("epsilon", UNSET)

        def _parse_epsilon_high(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        epsilon_high = _parse_epsilon_high(d.pop("epsilon_high", UNSET))


        def _parse_dual_clip(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        dual_clip = _parse_dual_clip(d.pop("dual_clip", UNSET))


        ppo_options = cls(
            type_=type_,
            epsilon=epsilon,
            epsilon_high=epsilon_high,
            dual_clip=dual_clip,
        )

        return ppo_options

