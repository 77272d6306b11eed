from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.max_steps_rule_action import check_max_steps_rule_action
from ..models.max_steps_rule_action import MaxStepsRuleAction
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="MaxStepsRule")



@_attrs_define
class MaxStepsRule:
    """ Ends the job after a number of steps.

        Attributes:
            steps (int): Steps after which the job ends.
            action (MaxStepsRuleAction | Unset): The effect of the rule: none, an event, a pause, or the end with the best
                checkpoint. Default: 'stop'.
     """

    steps: int
    action: MaxStepsRuleAction | Unset = 'stop'





    def to_dict(self) -> dict[str, Any]:
        steps = self.steps

        action: str | Unset = UNSET
        if not isinstance(self.action, Unset):
            action = self.action



        field_dict: dict[str, Any] = {}

        field_dict.update({
            "steps": steps,
        })
        if action is not UNSET:
            field_dict["action"] = action

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        steps = d.pop("steps")

        _action = d.pop("action", UNSET)
        action: MaxStepsRuleAction | Unset
        if isinstance(_action,  Unset):
            action = UNSET
        else:
            action = check_max_steps_rule_action(_action)




        max_steps_rule = cls(
            steps=steps,
            action=action,
        )

        return max_steps_rule

