from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.grader_error_flags import GraderErrorFlags
  from ..models.grader_run_metadata_reasons import GraderRunMetadataReasons
  from ..models.grader_run_metadata_scores import GraderRunMetadataScores





T = TypeVar("T", bound="GraderRunMetadata")



@_attrs_define
class GraderRunMetadata:
    """ The numbers of a trial run beside its reward.

        Attributes:
            name (str): Name of the grader.
            type_ (str): Kind of the grader.
            errors (GraderErrorFlags): Flags of what went wrong in a trial run.
            execution_time (float): Seconds.
            scores (GraderRunMetadataScores): Scores of a multi grader's parts, by name.
            reasons (GraderRunMetadataReasons): Reasons of the scores: of a multi grader's parts by name, and of the whole
                as `""` (an extension).
            token_usage (int | None): Tokens that judges used; `null` without a judge.
            sampled_model_name (None | str): Name of the judge's model.
     """

    name: str
    type_: str
    errors: GraderErrorFlags
    execution_time: float
    scores: GraderRunMetadataScores
    reasons: GraderRunMetadataReasons
    token_usage: int | None
    sampled_model_name: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.grader_error_flags import GraderErrorFlags # noqa: PLC0415
        from ..models.grader_run_metadata_reasons import GraderRunMetadataReasons # noqa: PLC0415
        from ..models.grader_run_metadata_scores import GraderRunMetadataScores # noqa: PLC0415
        name = self.name

        type_ = self.type_

        errors = self.errors.to_dict()

        execution_time = self.execution_time

        scores = self.scores.to_dict()

        reasons = self.reasons.to_dict()

        token_usage: int | None
        token_usage = self.token_usage

        sampled_model_name: None | str
        sampled_model_name = self.sampled_model_name


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
            "type": type_,
            "errors": errors,
            "execution_time": execution_time,
            "scores": scores,
            "reasons": reasons,
            "token_usage": token_usage,
            "sampled_model_name": sampled_model_name,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.grader_error_flags import GraderErrorFlags # noqa: PLC0415
        from ..models.grader_run_metadata_reasons import GraderRunMetadataReasons # noqa: PLC0415
        from ..models.grader_run_metadata_scores import GraderRunMetadataScores # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("name")

        type_ = d.pop("type")

        errors = GraderErrorFlags.from_dict(d.pop("errors"))




        execution_time = d.pop("execution_time")

        scores = GraderRunMetadataScores.from_dict(d.pop("scores"))




        reasons = GraderRunMetadataReasons.from_dict(d.pop("reasons"))




        def _parse_token_usage(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        token_usage = _parse_token_usage(d.pop("token_usage"))


        def _parse_sampled_model_name(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        sampled_model_name = _parse_sampled_model_name(d.pop("sampled_model_name"))


        grader_run_metadata = cls(
            name=name,
            type_=type_,
            errors=errors,
            execution_time=execution_time,
            scores=scores,
            reasons=reasons,
            token_usage=token_usage,
            sampled_model_name=sampled_model_name,
        )


        grader_run_metadata.additional_properties = d
        return grader_run_metadata

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
