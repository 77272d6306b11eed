from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.token_growth_rule_action import check_token_growth_rule_action
from ..models.token_growth_rule_action import TokenGrowthRuleAction
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="TokenGrowthRule")



@_attrs_define
class TokenGrowthRule:
    """ Rollouts become longer and longer.

        Attributes:
            action (TokenGrowthRuleAction | Unset): The effect of the rule: none, an event, a pause, or the end with the
                best checkpoint. Default: 'warn'.
            ratio (float | Unset): Mean completion tokens of the latest `steps` steps against those of the first. Default:
                2.0.
            steps (int | Unset): Length of both windows. Default: 5.
     """

    action: TokenGrowthRuleAction | Unset = 'warn'
    ratio: float | Unset = 2.0
    steps: int | Unset = 5





    def to_dict(self) -> dict[str, Any]:
        action: str | Unset = UNSET
        if not isinstance(self.action, Unset):
            action = self.action


        ratio = self.ratio

        steps = self.steps


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if action is not UNSET:
            field_dict["action"] = action
        if ratio is not UNSET:
            field_dict["ratio"] = ratio
        if steps is not UNSET:
            field_dict["steps"] = steps

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        _action = d.pop("action", UNSET)
        action: TokenGrowthRuleAction | Unset
        if isinstance(_action,  Unset):
            action = UNSET
        else:
            action = check_token_growth_rule_action(_action)




        ratio = d.pop("ratio", UNSET)

        steps = d.pop("steps", UNSET)

        token_growth_rule = cls(
            action=action,
            ratio=ratio,
            steps=steps,
        )

        return token_growth_rule

