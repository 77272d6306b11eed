from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.criterion import Criterion
  from ..models.judge_sampling import JudgeSampling
  from ..models.llm_judge_grader_headers_type_0 import LlmJudgeGraderHeadersType0





T = TypeVar("T", bound="LlmJudgeGrader")



@_attrs_define
class LlmJudgeGrader:
    """ A judge's score of one answer by a rubric, divided by `scale`.

        Attributes:
            model (str): Name of the judge: a model of this service, or of the server at `base_url`.
            type_ (Literal['llm_judge']): Selects the kind of the object.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            sampling_params (JudgeSampling | None | Unset): Sampling of the judge.
            base_url (None | str | Unset): The customer's own OpenAI-compatible server, e.g. `https://api.example/v1` (an
                extension).
            headers (LlmJudgeGraderHeadersType0 | None | Unset): Headers for `base_url` alone (an extension).
            name (str | Unset): Name for readers; it need not be unique. Default: 'llm_judge'.
            question (str | Unset): Template of the question that was answered. Default: '{{item.messages}}'.
            input_ (str | Unset): Template of the answer. Default: '{{sample.output_text}}'.
            rubric (list[Criterion] | Unset): The criteria and their weights; their texts are not templates.
            scale (int | Unset): The judge's highest score; the lowest is 0. Default: 10.
     """

    model: str
    type_: Literal['llm_judge']
    pass_threshold: float | None | Unset = UNSET
    sampling_params: JudgeSampling | None | Unset = UNSET
    base_url: None | str | Unset = UNSET
    headers: LlmJudgeGraderHeadersType0 | None | Unset = UNSET
    name: str | Unset = 'llm_judge'
    question: str | Unset = '{{item.messages}}'
    input_: str | Unset = '{{sample.output_text}}'
    rubric: list[Criterion] | Unset = UNSET
    scale: int | Unset = 10
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.criterion import Criterion # noqa: PLC0415
        from ..models.judge_sampling import JudgeSampling # noqa: PLC0415
        from ..models.llm_judge_grader_headers_type_0 import LlmJudgeGraderHeadersType0 # noqa: PLC0415
        model = self.model

        type_ = self.type_

        pass_threshold: float | None | Unset
        if isinstance(self.pass_threshold, Unset):
            pass_threshold = UNSET
        else:
            pass_threshold = self.pass_threshold

        sampling_params: dict[str, Any] | None | Unset
        if isinstance(self.sampling_params, Unset):
            sampling_params = UNSET
        elif isinstance(self.sampling_params, JudgeSampling):
            sampling_params = self.sampling_params.to_dict()
        else:
            sampling_params = self.sampling_params

        base_url: None | str | Unset
        if isinstance(self.base_url, Unset):
            base_url = UNSET
        else:
            base_url = self.base_url

        headers: dict[str, Any] | None | Unset
        if isinstance(self.headers, Unset):
            headers = UNSET
        elif isinstance(self.headers, LlmJudgeGraderHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers

        name = self.name

        question = self.question

        input_ = self.input_

        rubric: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.rubric, Unset):
            rubric = []
            for rubric_item_data in self.rubric:
                rubric_item = rubric_item_data.to_dict()
                rubric.append(rubric_item)



        scale = self.scale


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "model": model,
            "type": type_,
        })
        if pass_threshold is not UNSET:
            field_dict["pass_threshold"] = pass_threshold
        if sampling_params is not UNSET:
            field_dict["sampling_params"] = sampling_params
        if base_url is not UNSET:
            field_dict["base_url"] = base_url
        if headers is not UNSET:
            field_dict["headers"] = headers
        if name is not UNSET:
            field_dict["name"] = name
        if question is not UNSET:
            field_dict["question"] = question
        if input_ is not UNSET:
            field_dict["input"] = input_
        if rubric is not UNSET:
            field_dict["rubric"] = rubric
        if scale is not UNSET:
            field_dict["scale"] = scale

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.criterion import Criterion # noqa: PLC0415
        from ..models.judge_sampling import JudgeSampling # noqa: PLC0415
        from ..models.llm_judge_grader_headers_type_0 import LlmJudgeGraderHeadersType0 # noqa: PLC0415
        d = dict(src_dict)
        model = d.pop("model")

        type_ = cast(Literal['llm_judge'] , d.pop("type"))
        if type_ != 'llm_judge':
            raise ValueError(f"type must match const 'llm_judge', got '{type_}'")

        def _parse_pass_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        pass_threshold = _parse_pass_threshold(d.pop("pass_threshold", UNSET))


        def _parse_sampling_params(data: object) -> JudgeSampling | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                sampling_params_type_0 = JudgeSampling.from_dict(data)



                return sampling_params_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(JudgeSampling | None | Unset, data)

        sampling_params = _parse_sampling_params(d.pop("sampling_params", UNSET))


        def _parse_base_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        base_url = _parse_base_url(d.pop("base_url", UNSET))


        def _parse_headers(data: object) -> LlmJudgeGraderHeadersType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = LlmJudgeGraderHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LlmJudgeGraderHeadersType0 | None | Unset, data)

        headers = _parse_headers(d.pop("headers", UNSET))


        name = d.pop("name", UNSET)

        question = d.pop("question", UNSET)

        input_ = d.pop("input", UNSET)

        _rubric = d.pop("rubric", UNSET)
        rubric: list[Criterion] | Unset = UNSET
        if _rubric is not UNSET:
            rubric = []
            for rubric_item_data in _rubric:
                rubric_item = Criterion.from_dict(rubric_item_data)



                rubric.append(rubric_item)


        scale = d.pop("scale", UNSET)

        llm_judge_grader = cls(
            model=model,
            type_=type_,
            pass_threshold=pass_threshold,
            sampling_params=sampling_params,
            base_url=base_url,
            headers=headers,
            name=name,
            question=question,
            input_=input_,
            rubric=rubric,
            scale=scale,
        )


        llm_judge_grader.additional_properties = d
        return llm_judge_grader

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
