from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.tool_call_collapse_rule_action import check_tool_call_collapse_rule_action
from ..models.tool_call_collapse_rule_action import ToolCallCollapseRuleAction
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="ToolCallCollapseRule")



@_attrs_define
class ToolCallCollapseRule:
    """ The policy has stopped calling its tools.

        Attributes:
            action (ToolCallCollapseRuleAction | Unset): The effect of the rule: none, an event, a pause, or the end with
                the best checkpoint. Default: 'warn'.
            share (float | Unset): Largest ratio of the mean calls of the latest `steps` steps to those of the first.
                Default: 0.1.
            steps (int | Unset): Length of both windows. Default: 3.
     """

    action: ToolCallCollapseRuleAction | Unset = 'warn'
    share: float | Unset = 0.1
    steps: int | Unset = 3





    def to_dict(self) -> dict[str, Any]:
        action: str | Unset = UNSET
        if not isinstance(self.action, Unset):
            action = self.action


        share = self.share

        steps = self.steps


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if action is not UNSET:
            field_dict["action"] = action
        if share is not UNSET:
            field_dict["share"] = share
        if steps is not UNSET:
            field_dict["steps"] = steps

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        _action = d.pop("action", UNSET)
        action: ToolCallCollapseRuleAction | Unset
        if isinstance(_action,  Unset):
            action = UNSET
        else:
            action = check_tool_call_collapse_rule_action(_action)




        share = d.pop("share", UNSET)

        steps = d.pop("steps", UNSET)

        tool_call_collapse_rule = cls(
            action=action,
            share=share,
            steps=steps,
        )

        return tool_call_collapse_rule

