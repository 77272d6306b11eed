from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.feedback_build_object_method import check_feedback_build_object_method
from ..models.feedback_build_object_method import FeedbackBuildObjectMethod
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.dropped_feedback import DroppedFeedback
  from ..models.feedback_build_object_findings import FeedbackBuildObjectFindings
  from ..models.feedback_sources import FeedbackSources





T = TypeVar("T", bound="FeedbackBuildObject")



@_attrs_define
class FeedbackBuildObject:
    """ A build: the report, and the curriculum with the files.

        Attributes:
            method (FeedbackBuildObjectMethod): Type of the job that the files are for.
            training_rows (int): Rows to train.
            validation_rows (int): Rows that are held out.
            prompts (int): Different prompts of the rows.
            prompt_groups (int): Clusters of prompts that are nearly the same; no cluster is in both files.
            alike_rows (int): Rows of a few templates, which were divided by what differs in them: both files have rows of
                the same form. Default: 0.
            sources (FeedbackSources): The use of the feedback of each type.
            dropped (list[DroppedFeedback]): Feedback that no row uses, by reason.
            findings (FeedbackBuildObjectFindings): Number of findings of each kind, as in `GET /v1/feedback/findings`.
            id (None | str): Id of the build; `null` after a dry run.
            object_ (Literal['feedback.build']): Type of the object; each type has one constant value. Default:
                'feedback.build'.
            created_at (int | None): Unix seconds; `null` after a dry run.
            curriculum_id (None | str): Id of the curriculum; `null` after a dry run, and for a build that was interrupted.
            curriculum_version (int | None): Version of the curriculum with these files.
     """

    method: FeedbackBuildObjectMethod
    training_rows: int
    validation_rows: int
    prompts: int
    prompt_groups: int
    sources: FeedbackSources
    dropped: list[DroppedFeedback]
    findings: FeedbackBuildObjectFindings
    id: None | str
    created_at: int | None
    curriculum_id: None | str
    curriculum_version: int | None
    alike_rows: int = 0
    object_: Literal['feedback.build'] = 'feedback.build'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.dropped_feedback import DroppedFeedback # noqa: PLC0415
        from ..models.feedback_build_object_findings import FeedbackBuildObjectFindings # noqa: PLC0415
        from ..models.feedback_sources import FeedbackSources # noqa: PLC0415
        method: str = self.method

        training_rows = self.training_rows

        validation_rows = self.validation_rows

        prompts = self.prompts

        prompt_groups = self.prompt_groups

        alike_rows = self.alike_rows

        sources = self.sources.to_dict()

        dropped = []
        for dropped_item_data in self.dropped:
            dropped_item = dropped_item_data.to_dict()
            dropped.append(dropped_item)



        findings = self.findings.to_dict()

        id: None | str
        id = self.id

        object_ = self.object_

        created_at: int | None
        created_at = self.created_at

        curriculum_id: None | str
        curriculum_id = self.curriculum_id

        curriculum_version: int | None
        curriculum_version = self.curriculum_version


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "method": method,
            "training_rows": training_rows,
            "validation_rows": validation_rows,
            "prompts": prompts,
            "prompt_groups": prompt_groups,
            "alike_rows": alike_rows,
            "sources": sources,
            "dropped": dropped,
            "findings": findings,
            "id": id,
            "object": object_,
            "created_at": created_at,
            "curriculum_id": curriculum_id,
            "curriculum_version": curriculum_version,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.dropped_feedback import DroppedFeedback # noqa: PLC0415
        from ..models.feedback_build_object_findings import FeedbackBuildObjectFindings # noqa: PLC0415
        from ..models.feedback_sources import FeedbackSources # noqa: PLC0415
        d = dict(src_dict)
        method = check_feedback_build_object_method(d.pop("method"))




        training_rows = d.pop("training_rows")

        validation_rows = d.pop("validation_rows")

        prompts = d.pop("prompts")

        prompt_groups = d.pop("prompt_groups")

        alike_rows = d.pop("alike_rows")

        sources = FeedbackSources.from_dict(d.pop("sources"))




        dropped = []
        _dropped = d.pop("dropped")
        for dropped_item_data in (_dropped):
            dropped_item = DroppedFeedback.from_dict(dropped_item_data)



            dropped.append(dropped_item)


        findings = FeedbackBuildObjectFindings.from_dict(d.pop("findings"))




        def _parse_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        id = _parse_id(d.pop("id"))


        object_ = cast(Literal['feedback.build'] , d.pop("object"))
        if object_ != 'feedback.build':
            raise ValueError(f"object must match const 'feedback.build', got '{object_}'")

        def _parse_created_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        created_at = _parse_created_at(d.pop("created_at"))


        def _parse_curriculum_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        curriculum_id = _parse_curriculum_id(d.pop("curriculum_id"))


        def _parse_curriculum_version(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        curriculum_version = _parse_curriculum_version(d.pop("curriculum_version"))


        feedback_build_object = cls(
            method=method,
            training_rows=training_rows,
            validation_rows=validation_rows,
            prompts=prompts,
            prompt_groups=prompt_groups,
            alike_rows=alike_rows,
            sources=sources,
            dropped=dropped,
            findings=findings,
            id=id,
            object_=object_,
            created_at=created_at,
            curriculum_id=curriculum_id,
            curriculum_version=curriculum_version,
        )


        feedback_build_object.additional_properties = d
        return feedback_build_object

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
