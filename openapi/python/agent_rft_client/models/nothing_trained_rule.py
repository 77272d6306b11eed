from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.nothing_trained_rule_action import check_nothing_trained_rule_action
from ..models.nothing_trained_rule_action import NothingTrainedRuleAction
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="NothingTrainedRule")



@_attrs_define
class NothingTrainedRule:
    """ No step of the job has changed a weight so far.

        Attributes:
            action (NothingTrainedRuleAction | Unset): The effect of the rule: none, an event, a pause, or the end with the
                best checkpoint. Default: 'warn'.
            steps (int | Unset): Steps from the first one on. Default: 3.
     """

    action: NothingTrainedRuleAction | Unset = 'warn'
    steps: int | Unset = 3





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
        action: NothingTrainedRuleAction | Unset
        if isinstance(_action,  Unset):
            action = UNSET
        else:
            action = check_nothing_trained_rule_action(_action)




        steps = d.pop("steps", UNSET)

        nothing_trained_rule = cls(
            action=action,
            steps=steps,
        )

        return nothing_trained_rule

