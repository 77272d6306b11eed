from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.feedback_finding_kind import check_feedback_finding_kind
from ..models.feedback_finding_kind import FeedbackFindingKind
from typing import cast






T = TypeVar("T", bound="FeedbackFinding")



@_attrs_define
class FeedbackFinding:
    """ Feedback that repeats or contradicts other feedback.

        Attributes:
            kind (FeedbackFindingKind): Kind of the finding.
            message (str): The finding in a sentence.
            feedback_ids (list[str]): Ids of the feedback, oldest first.
     """

    kind: FeedbackFindingKind
    message: str
    feedback_ids: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        kind: str = self.kind

        message = self.message

        feedback_ids = self.feedback_ids




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "kind": kind,
            "message": message,
            "feedback_ids": feedback_ids,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        kind = check_feedback_finding_kind(d.pop("kind"))




        message = d.pop("message")

        feedback_ids = cast(list[str], d.pop("feedback_ids"))


        feedback_finding = cls(
            kind=kind,
            message=message,
            feedback_ids=feedback_ids,
        )


        feedback_finding.additional_properties = d
        return feedback_finding

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
