from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.target_rule_action import check_target_rule_action
from ..models.target_rule_action import TargetRuleAction
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="TargetRule")



@_attrs_define
class TargetRule:
    """ Ends the job when validation has reached a target.

        Attributes:
            value (float): Smallest mean validation reward, or largest validation loss.
            action (TargetRuleAction | Unset): The effect of the rule: none, an event, a pause, or the end with the best
                checkpoint. Default: 'stop'.
     """

    value: float
    action: TargetRuleAction | Unset = 'stop'





    def to_dict(self) -> dict[str, Any]:
        value = self.value

        action: str | Unset = UNSET
        if not isinstance(self.action, Unset):
            action = self.action



        field_dict: dict[str, Any] = {}

        field_dict.update({
            "value": value,
        })
        if action is not UNSET:
            field_dict["action"] = action

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        value = d.pop("value")

        _action = d.pop("action", UNSET)
        action: TargetRuleAction | Unset
        if isinstance(_action,  Unset):
            action = UNSET
        else:
            action = check_target_rule_action(_action)




        target_rule = cls(
            value=value,
            action=action,
        )

        return target_rule

