from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.ai_judge_grader import AiJudgeGrader
  from ..models.auto_grader import AutoGrader
  from ..models.code_execution_grader import CodeExecutionGrader
  from ..models.contains_grader import ContainsGrader
  from ..models.endpoint_grader import EndpointGrader
  from ..models.environment_grader import EnvironmentGrader
  from ..models.exact_match_grader import ExactMatchGrader
  from ..models.format_grader import FormatGrader
  from ..models.json_valid_grader import JsonValidGrader
  from ..models.label_model_grader import LabelModelGrader
  from ..models.length_bounds_grader import LengthBoundsGrader
  from ..models.llm_judge_grader import LlmJudgeGrader
  from ..models.multi_grader import MultiGrader
  from ..models.python_grader import PythonGrader
  from ..models.regex_grader import RegexGrader
  from ..models.run_grader_request_item_type_0 import RunGraderRequestItemType0
  from ..models.sample_parts import SampleParts
  from ..models.score_model_grader import ScoreModelGrader
  from ..models.string_check_grader import StringCheckGrader
  from ..models.text_similarity_grader import TextSimilarityGrader
  from ..models.tool_call_grader import ToolCallGrader





T = TypeVar("T", bound="RunGraderRequest")



@_attrs_define
class RunGraderRequest:
    """ A grader and the sample that it scores in a trial run.

        Attributes:
            grader (AiJudgeGrader | AutoGrader | CodeExecutionGrader | ContainsGrader | EndpointGrader | EnvironmentGrader |
                ExactMatchGrader | FormatGrader | JsonValidGrader | LabelModelGrader | LengthBoundsGrader | LlmJudgeGrader |
                MultiGrader | PythonGrader | RegexGrader | ScoreModelGrader | StringCheckGrader | TextSimilarityGrader |
                ToolCallGrader): The grader, as in a create call of a job. `auto` chooses one from `item`.
            model_sample (str): The answer that is graded.
            item (None | RunGraderRequestItemType0 | Unset): The row, as templates and endpoints read it.
            sample (None | SampleParts | Unset): Further keys of `sample` besides the answer (an extension).
            trace_id (None | str | Unset): Id of the call, sent to an endpoint.
     """

    grader: AiJudgeGrader | AutoGrader | CodeExecutionGrader | ContainsGrader | EndpointGrader | EnvironmentGrader | ExactMatchGrader | FormatGrader | JsonValidGrader | LabelModelGrader | LengthBoundsGrader | LlmJudgeGrader | MultiGrader | PythonGrader | RegexGrader | ScoreModelGrader | StringCheckGrader | TextSimilarityGrader | ToolCallGrader
    model_sample: str
    item: None | RunGraderRequestItemType0 | Unset = UNSET
    sample: None | SampleParts | Unset = UNSET
    trace_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.ai_judge_grader import AiJudgeGrader # noqa: PLC0415
        from ..models.auto_grader import AutoGrader # noqa: PLC0415
        from ..models.code_execution_grader import CodeExecutionGrader # noqa: PLC0415
        from ..models.contains_grader import ContainsGrader # noqa: PLC0415
        from ..models.endpoint_grader import EndpointGrader # noqa: PLC0415
        from ..models.environment_grader import EnvironmentGrader # noqa: PLC0415
        from ..models.exact_match_grader import ExactMatchGrader # noqa: PLC0415
        from ..models.format_grader import FormatGrader # noqa: PLC0415
        from ..models.json_valid_grader import JsonValidGrader # noqa: PLC0415
        from ..models.label_model_grader import LabelModelGrader # noqa: PLC0415
        from ..models.length_bounds_grader import LengthBoundsGrader # noqa: PLC0415
        from ..models.llm_judge_grader import LlmJudgeGrader # noqa: PLC0415
        from ..models.multi_grader import MultiGrader # noqa: PLC0415
        from ..models.python_grader import PythonGrader # noqa: PLC0415
        from ..models.regex_grader import RegexGrader # noqa: PLC0415
        from ..models.run_grader_request_item_type_0 import RunGraderRequestItemType0 # noqa: PLC0415
        from ..models.sample_parts import SampleParts # noqa: PLC0415
        from ..models.score_model_grader import ScoreModelGrader # noqa: PLC0415
        from ..models.string_check_grader import StringCheckGrader # noqa: PLC0415
        from ..models.text_similarity_grader import TextSimilarityGrader # noqa: PLC0415
        from ..models.tool_call_grader import ToolCallGrader # noqa: PLC0415
        grader: dict[str, Any]
        if isinstance(self.grader, StringCheckGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, TextSimilarityGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, ExactMatchGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, ContainsGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, JsonValidGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, RegexGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, FormatGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, LengthBoundsGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, ToolCallGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, PythonGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, CodeExecutionGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, ScoreModelGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, LabelModelGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, LlmJudgeGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, AiJudgeGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, EndpointGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, EnvironmentGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, MultiGrader):
            grader = self.grader.to_dict()
        else:
            grader = self.grader.to_dict()


        model_sample = self.model_sample

        item: dict[str, Any] | None | Unset
        if isinstance(self.item, Unset):
            item = UNSET
        elif isinstance(self.item, RunGraderRequestItemType0):
            item = self.item.to_dict()
        else:
            item = self.item

        sample: dict[str, Any] | None | Unset
        if isinstance(self.sample, Unset):
            sample = UNSET
        elif isinstance(self.sample, SampleParts):
            sample = self.sample.to_dict()
        else:
            sample = self.sample

        trace_id: None | str | Unset
        if isinstance(self.trace_id, Unset):
            trace_id = UNSET
        else:
            trace_id = self.trace_id


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "grader": grader,
            "model_sample": model_sample,
        })
        if item is not UNSET:
            field_dict["item"] = item
        if sample is not UNSET:
            field_dict["sample"] = sample
        if trace_id is not UNSET:
            field_dict["trace_id"] = trace_id

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.ai_judge_grader import AiJudgeGrader # noqa: PLC0415
        from ..models.auto_grader import AutoGrader # noqa: PLC0415
        from ..models.code_execution_grader import CodeExecutionGrader # noqa: PLC0415
        from ..models.contains_grader import ContainsGrader # noqa: PLC0415
        from ..models.endpoint_grader import EndpointGrader # noqa: PLC0415
        from ..models.environment_grader import EnvironmentGrader # noqa: PLC0415
        from ..models.exact_match_grader import ExactMatchGrader # noqa: PLC0415
        from ..models.format_grader import FormatGrader # noqa: PLC0415
        from ..models.json_valid_grader import JsonValidGrader # noqa: PLC0415
        from ..models.label_model_grader import LabelModelGrader # noqa: PLC0415
        from ..models.length_bounds_grader import LengthBoundsGrader # noqa: PLC0415
        from ..models.llm_judge_grader import LlmJudgeGrader # noqa: PLC0415
        from ..models.multi_grader import MultiGrader # noqa: PLC0415
        from ..models.python_grader import PythonGrader # noqa: PLC0415
        from ..models.regex_grader import RegexGrader # noqa: PLC0415
        from ..models.run_grader_request_item_type_0 import RunGraderRequestItemType0 # noqa: PLC0415
        from ..models.sample_parts import SampleParts # noqa: PLC0415
        from ..models.score_model_grader import ScoreModelGrader # noqa: PLC0415
        from ..models.string_check_grader import StringCheckGrader # noqa: PLC0415
        from ..models.text_similarity_grader import TextSimilarityGrader # noqa: PLC0415
        from ..models.tool_call_grader import ToolCallGrader # noqa: PLC0415
        d = dict(src_dict)
        def _parse_grader(data: object) -> AiJudgeGrader | AutoGrader | CodeExecutionGrader | ContainsGrader | EndpointGrader | EnvironmentGrader | ExactMatchGrader | FormatGrader | JsonValidGrader | LabelModelGrader | LengthBoundsGrader | LlmJudgeGrader | MultiGrader | PythonGrader | RegexGrader | ScoreModelGrader | StringCheckGrader | TextSimilarityGrader | ToolCallGrader:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_0 = StringCheckGrader.from_dict(data)



                return grader_type_0_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_1 = TextSimilarityGrader.from_dict(data)



                return grader_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_2 = ExactMatchGrader.from_dict(data)



                return grader_type_0_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_3 = ContainsGrader.from_dict(data)



                return grader_type_0_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_4 = JsonValidGrader.from_dict(data)



                return grader_type_0_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_5 = RegexGrader.from_dict(data)



                return grader_type_0_type_5
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_6 = FormatGrader.from_dict(data)



                return grader_type_0_type_6
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_7 = LengthBoundsGrader.from_dict(data)



                return grader_type_0_type_7
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_8 = ToolCallGrader.from_dict(data)



                return grader_type_0_type_8
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_9 = PythonGrader.from_dict(data)



                return grader_type_0_type_9
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_10 = CodeExecutionGrader.from_dict(data)



                return grader_type_0_type_10
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_11 = ScoreModelGrader.from_dict(data)



                return grader_type_0_type_11
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_12 = LabelModelGrader.from_dict(data)



                return grader_type_0_type_12
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_13 = LlmJudgeGrader.from_dict(data)



                return grader_type_0_type_13
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_14 = AiJudgeGrader.from_dict(data)



                return grader_type_0_type_14
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_15 = EndpointGrader.from_dict(data)



                return grader_type_0_type_15
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_16 = EnvironmentGrader.from_dict(data)



                return grader_type_0_type_16
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_17 = MultiGrader.from_dict(data)



                return grader_type_0_type_17
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            grader_type_1 = AutoGrader.from_dict(data)



            return grader_type_1

        grader = _parse_grader(d.pop("grader"))


        model_sample = d.pop("model_sample")

        def _parse_item(data: object) -> None | RunGraderRequestItemType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                item_type_0 = RunGraderRequestItemType0.from_dict(data)



                return item_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RunGraderRequestItemType0 | Unset, data)

        item = _parse_item(d.pop("item", UNSET))


        def _parse_sample(data: object) -> None | SampleParts | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                sample_type_0 = SampleParts.from_dict(data)



                return sample_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SampleParts | Unset, data)

        sample = _parse_sample(d.pop("sample", UNSET))


        def _parse_trace_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        trace_id = _parse_trace_id(d.pop("trace_id", UNSET))


        run_grader_request = cls(
            grader=grader,
            model_sample=model_sample,
            item=item,
            sample=sample,
            trace_id=trace_id,
        )


        run_grader_request.additional_properties = d
        return run_grader_request

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
