from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.text_similarity_grader_evaluation_metric import check_text_similarity_grader_evaluation_metric
from ..models.text_similarity_grader_evaluation_metric import TextSimilarityGraderEvaluationMetric
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="TextSimilarityGrader")



@_attrs_define
class TextSimilarityGrader:
    """ The similarity of two texts, from 0 to 1.

        Attributes:
            type_ (Literal['text_similarity']): Selects the kind of the object.
            input_ (str): Template of the text that is compared, such as `{{sample.output_text}}`.
            reference (str): Template of the text that it is compared with.
            evaluation_metric (TextSimilarityGraderEvaluationMetric): The measure of similarity; `cosine` needs the
                operator's embedding endpoint.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            name (str | Unset): Name for readers; it need not be unique. Default: 'text_similarity'.
     """

    type_: Literal['text_similarity']
    input_: str
    reference: str
    evaluation_metric: TextSimilarityGraderEvaluationMetric
    pass_threshold: float | None | Unset = UNSET
    name: str | Unset = 'text_similarity'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        input_ = self.input_

        reference = self.reference

        evaluation_metric: str = self.evaluation_metric

        pass_threshold: float | None | Unset
        if isinstance(self.pass_threshold, Unset):
            pass_threshold = UNSET
        else:
            pass_threshold = self.pass_threshold

        name = self.name


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
            "input": input_,
            "reference": reference,
            "evaluation_metric": evaluation_metric,
        })
        if pass_threshold is not UNSET:
            field_dict["pass_threshold"] = pass_threshold
        if name is not UNSET:
            field_dict["name"] = name

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['text_similarity'] , d.pop("type"))
        if type_ != 'text_similarity':
            raise ValueError(f"type must match const 'text_similarity', got '{type_}'")

        input_ = d.pop("input")

        reference = d.pop("reference")

        evaluation_metric = check_text_similarity_grader_evaluation_metric(d.pop("evaluation_metric"))




        def _parse_pass_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        pass_threshold = _parse_pass_threshold(d.pop("pass_threshold", UNSET))


        name = d.pop("name", UNSET)

        text_similarity_grader = cls(
            type_=type_,
            input_=input_,
            reference=reference,
            evaluation_metric=evaluation_metric,
            pass_threshold=pass_threshold,
            name=name,
        )


        text_similarity_grader.additional_properties = d
        return text_similarity_grader

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
