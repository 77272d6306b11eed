from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.entropy_rise_rule_action import check_entropy_rise_rule_action
from ..models.entropy_rise_rule_action import EntropyRiseRuleAction
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="EntropyRiseRule")



@_attrs_define
class EntropyRiseRule:
    """ The policy becomes random: its text turns into a mixture of the vocabulary.

        Attributes:
            action (EntropyRiseRuleAction | Unset): The effect of the rule: none, an event, a pause, or the end with the
                best checkpoint. Default: 'warn'.
            ratio (float | Unset): Mean entropy of the latest `steps` steps against that of the first. Default: 3.0.
            min_rise (float | Unset): Smallest rise in nats per token. Default: 0.5.
            steps (int | Unset): Length of both windows. Default: 3.
     """

    action: EntropyRiseRuleAction | Unset = 'warn'
    ratio: float | Unset = 3.0
    min_rise: float | Unset = 0.5
    steps: int | Unset = 3





    def to_dict(self) -> dict[str, Any]:
        action: str | Unset = UNSET
        if not isinstance(self.action, Unset):
            action = self.action


        ratio = self.ratio

        min_rise = self.min_rise

        steps = self.steps


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if action is not UNSET:
            field_dict["action"] = action
        if ratio is not UNSET:
            field_dict["ratio"] = ratio
        if min_rise is not UNSET:
            field_dict["min_rise"] = min_rise
        if steps is not UNSET:
            field_dict["steps"] = steps

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        _action = d.pop("action", UNSET)
        action: EntropyRiseRuleAction | Unset
        if isinstance(_action,  Unset):
            action = UNSET
        else:
            action = check_entropy_rise_rule_action(_action)




        ratio = d.pop("ratio", UNSET)

        min_rise = d.pop("min_rise", UNSET)

        steps = d.pop("steps", UNSET)

        entropy_rise_rule = cls(
            action=action,
            ratio=ratio,
            min_rise=min_rise,
            steps=steps,
        )

        return entropy_rise_rule

