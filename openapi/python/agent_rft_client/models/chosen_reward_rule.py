from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.chosen_reward_rule_action import check_chosen_reward_rule_action
from ..models.chosen_reward_rule_action import ChosenRewardRuleAction
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="ChosenRewardRule")



@_attrs_define
class ChosenRewardRule:
    """ Training makes the preferred answers less probable than the model that it started from.

        Attributes:
            action (ChosenRewardRuleAction | Unset): The effect of the rule: none, an event, a pause, or the end with the
                best checkpoint. Default: 'warn'.
            below (float | Unset): Mean implicit reward of a step's preferred answers. Default: 0.0.
            steps (int | Unset): Number of steps in succession. Default: 3.
     """

    action: ChosenRewardRuleAction | Unset = 'warn'
    below: float | Unset = 0.0
    steps: int | Unset = 3





    def to_dict(self) -> dict[str, Any]:
        action: str | Unset = UNSET
        if not isinstance(self.action, Unset):
            action = self.action


        below = self.below

        steps = self.steps


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if action is not UNSET:
            field_dict["action"] = action
        if below is not UNSET:
            field_dict["below"] = below
        if steps is not UNSET:
            field_dict["steps"] = steps

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        _action = d.pop("action", UNSET)
        action: ChosenRewardRuleAction | Unset
        if isinstance(_action,  Unset):
            action = UNSET
        else:
            action = check_chosen_reward_rule_action(_action)




        below = d.pop("below", UNSET)

        steps = d.pop("steps", UNSET)

        chosen_reward_rule = cls(
            action=action,
            below=below,
            steps=steps,
        )

        return chosen_reward_rule

