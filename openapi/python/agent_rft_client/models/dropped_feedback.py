from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.dropped_feedback_reason import check_dropped_feedback_reason
from ..models.dropped_feedback_reason import DroppedFeedbackReason
from typing import cast






T = TypeVar("T", bound="DroppedFeedback")



@_attrs_define
class DroppedFeedback:
    """ Feedback that no row uses, for one reason.

        Attributes:
            reason (DroppedFeedbackReason): `duplicate`: the author judged again. `outvoted`, `tied`: of the thumbs on one
                answer. `no_opposite`: no answer to the same prompt has the other thumbs. `pair_limit`: the prompt has 16 pairs.
                `preference_cycle`, `correction_repeats_rejected`: other feedback contradicts it. `correction_changes_nothing`:
                it is the answer. `not_for_this_method`: another build uses it. `invalid_row`: no job takes such a row.
            feedback (int): Number of pieces of feedback.
            feedback_ids (list[str]): The first 20 of them.
     """

    reason: DroppedFeedbackReason
    feedback: int
    feedback_ids: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        reason: str = self.reason

        feedback = self.feedback

        feedback_ids = self.feedback_ids




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "reason": reason,
            "feedback": feedback,
            "feedback_ids": feedback_ids,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        reason = check_dropped_feedback_reason(d.pop("reason"))




        feedback = d.pop("feedback")

        feedback_ids = cast(list[str], d.pop("feedback_ids"))


        dropped_feedback = cls(
            reason=reason,
            feedback=feedback,
            feedback_ids=feedback_ids,
        )


        dropped_feedback.additional_properties = d
        return dropped_feedback

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
