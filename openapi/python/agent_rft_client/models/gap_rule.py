from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.gap_rule_action import check_gap_rule_action
from ..models.gap_rule_action import GapRuleAction
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="GapRule")



@_attrs_define
class GapRule:
    """ Training has diverged from validation: the policy has memorised rows, or exploits the
    grader.

        Attributes:
            action (GapRuleAction | Unset): The effect of the rule: none, an event, a pause, or the end with the best
                checkpoint. Default: 'warn'.
            threshold (float | Unset): Smallest gap that counts: the mean training value since the previous validation minus
                the validation's mean. Default: 0.2.
            evaluations (int | Unset): Validations in succession with such a gap, beyond the error of the validation.
                Default: 2.
     """

    action: GapRuleAction | Unset = 'warn'
    threshold: float | Unset = 0.2
    evaluations: int | Unset = 2





    def to_dict(self) -> dict[str, Any]:
        action: str | Unset = UNSET
        if not isinstance(self.action, Unset):
            action = self.action


        threshold = self.threshold

        evaluations = self.evaluations


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if action is not UNSET:
            field_dict["action"] = action
        if threshold is not UNSET:
            field_dict["threshold"] = threshold
        if evaluations is not UNSET:
            field_dict["evaluations"] = evaluations

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        _action = d.pop("action", UNSET)
        action: GapRuleAction | Unset
        if isinstance(_action,  Unset):
            action = UNSET
        else:
            action = check_gap_rule_action(_action)




        threshold = d.pop("threshold", UNSET)

        evaluations = d.pop("evaluations", UNSET)

        gap_rule = cls(
            action=action,
            threshold=threshold,
            evaluations=evaluations,
        )

        return gap_rule

