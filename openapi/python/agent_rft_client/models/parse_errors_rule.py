from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.parse_errors_rule_action import check_parse_errors_rule_action
from ..models.parse_errors_rule_action import ParseErrorsRuleAction
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="ParseErrorsRule")



@_attrs_define
class ParseErrorsRule:
    """ The policy writes tool calls that cannot be parsed.

        Attributes:
            action (ParseErrorsRuleAction | Unset): The effect of the rule: none, an event, a pause, or the end with the
                best checkpoint. Default: 'warn'.
            per_rollout (float | Unset): Mean number of such turns. Default: 0.5.
            steps (int | Unset): Number of steps in succession. Default: 3.
     """

    action: ParseErrorsRuleAction | Unset = 'warn'
    per_rollout: float | Unset = 0.5
    steps: int | Unset = 3





    def to_dict(self) -> dict[str, Any]:
        action: str | Unset = UNSET
        if not isinstance(self.action, Unset):
            action = self.action


        per_rollout = self.per_rollout

        steps = self.steps


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if action is not UNSET:
            field_dict["action"] = action
        if per_rollout is not UNSET:
            field_dict["per_rollout"] = per_rollout
        if steps is not UNSET:
            field_dict["steps"] = steps

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        _action = d.pop("action", UNSET)
        action: ParseErrorsRuleAction | Unset
        if isinstance(_action,  Unset):
            action = UNSET
        else:
            action = check_parse_errors_rule_action(_action)




        per_rollout = d.pop("per_rollout", UNSET)

        steps = d.pop("steps", UNSET)

        parse_errors_rule = cls(
            action=action,
            per_rollout=per_rollout,
            steps=steps,
        )

        return parse_errors_rule

