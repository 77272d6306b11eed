from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.turn_tokens import TurnTokens





T = TypeVar("T", bound="RolloutTokens")



@_attrs_define
class RolloutTokens:
    """ The tokens that the policy sampled in a rollout, with their log-probs.

        Attributes:
            object_ (Literal['fine_tuning.job.rollout.tokens']): Type of the object; each type has one constant value.
                Default: 'fine_tuning.job.rollout.tokens'.
            rollout_id (str): The rollout that sampled them.
            turns (list[TurnTokens]): In the order of the trace; turns behind the last stored token have empty lists.
            omitted_tokens (int): Number of sampled tokens that are not stored: those behind the first 4,096.
     """

    rollout_id: str
    turns: list[TurnTokens]
    omitted_tokens: int
    object_: Literal['fine_tuning.job.rollout.tokens'] = 'fine_tuning.job.rollout.tokens'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.turn_tokens import TurnTokens # noqa: PLC0415
        object_ = self.object_

        rollout_id = self.rollout_id

        turns = []
        for turns_item_data in self.turns:
            turns_item = turns_item_data.to_dict()
            turns.append(turns_item)



        omitted_tokens = self.omitted_tokens


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "rollout_id": rollout_id,
            "turns": turns,
            "omitted_tokens": omitted_tokens,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.turn_tokens import TurnTokens # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['fine_tuning.job.rollout.tokens'] , d.pop("object"))
        if object_ != 'fine_tuning.job.rollout.tokens':
            raise ValueError(f"object must match const 'fine_tuning.job.rollout.tokens', got '{object_}'")

        rollout_id = d.pop("rollout_id")

        turns = []
        _turns = d.pop("turns")
        for turns_item_data in (_turns):
            turns_item = TurnTokens.from_dict(turns_item_data)



            turns.append(turns_item)


        omitted_tokens = d.pop("omitted_tokens")

        rollout_tokens = cls(
            object_=object_,
            rollout_id=rollout_id,
            turns=turns,
            omitted_tokens=omitted_tokens,
        )


        rollout_tokens.additional_properties = d
        return rollout_tokens

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
