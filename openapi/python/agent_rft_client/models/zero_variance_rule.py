from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.zero_variance_rule_action import check_zero_variance_rule_action
from ..models.zero_variance_rule_action import ZeroVarianceRuleAction
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="ZeroVarianceRule")



@_attrs_define
class ZeroVarianceRule:
    """ No group has rollouts of different reward, so that none of them trains.

        Attributes:
            action (ZeroVarianceRuleAction | Unset): The effect of the rule: none, an event, a pause, or the end with the
                best checkpoint. Default: 'warn'.
            steps (int | Unset): Number of steps in succession. Default: 5.
     """

    action: ZeroVarianceRuleAction | Unset = 'warn'
    steps: int | Unset = 5





    def to_dict(self) -> dict[str, Any]:
        action: str | Unset = UNSET
        if not isinstance(self.action, Unset):
            action = self.action


        steps = self.steps


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if action is not UNSET:
            field_dict["action"] = action
        if steps is not UNSET:
            field_dict["steps"] = steps

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        _action = d.pop("action", UNSET)
        action: ZeroVarianceRuleAction | Unset
        if isinstance(_action,  Unset):
            action = UNSET
        else:
            action = check_zero_variance_rule_action(_action)




        steps = d.pop("steps", UNSET)

        zero_variance_rule = cls(
            action=action,
            steps=steps,
        )

        return zero_variance_rule

