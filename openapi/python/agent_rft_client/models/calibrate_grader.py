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
  from ..models.calibration_sample import CalibrationSample
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
  from ..models.score_model_grader import ScoreModelGrader
  from ..models.string_check_grader import StringCheckGrader
  from ..models.text_similarity_grader import TextSimilarityGrader
  from ..models.tool_call_grader import ToolCallGrader





T = TypeVar("T", bound="CalibrateGrader")



@_attrs_define
class CalibrateGrader:
    """ The samples to score: exactly one of `samples`, `file_id` and `job_id`.

        Attributes:
            samples (list[CalibrationSample] | None | Unset): Answers with their rows.
            file_id (None | str | Unset): Id of a JSONL file of up to 500 such samples, one a line. In place of
                `model_sample` a line may have a `sample` with an `output_text` and other parts, such as `tool_calls`.
            job_id (None | str | Unset): Id of a reinforcement job: the first 500 answers of its start model to the held-out
                rows, with their tool calls.
            compare_with (AiJudgeGrader | CodeExecutionGrader | ContainsGrader | EndpointGrader | EnvironmentGrader |
                ExactMatchGrader | FormatGrader | JsonValidGrader | LabelModelGrader | LengthBoundsGrader | LlmJudgeGrader |
                MultiGrader | None | PythonGrader | RegexGrader | ScoreModelGrader | StringCheckGrader | TextSimilarityGrader |
                ToolCallGrader | Unset): Grader of the evaluation, whose ranking is compared.
     """

    samples: list[CalibrationSample] | None | Unset = UNSET
    file_id: None | str | Unset = UNSET
    job_id: None | str | Unset = UNSET
    compare_with: AiJudgeGrader | CodeExecutionGrader | ContainsGrader | EndpointGrader | EnvironmentGrader | ExactMatchGrader | FormatGrader | JsonValidGrader | LabelModelGrader | LengthBoundsGrader | LlmJudgeGrader | MultiGrader | None | PythonGrader | RegexGrader | ScoreModelGrader | StringCheckGrader | TextSimilarityGrader | ToolCallGrader | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.ai_judge_grader import AiJudgeGrader # noqa: PLC0415
        from ..models.calibration_sample import CalibrationSample # noqa: PLC0415
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
        from ..models.score_model_grader import ScoreModelGrader # noqa: PLC0415
        from ..models.string_check_grader import StringCheckGrader # noqa: PLC0415
        from ..models.text_similarity_grader import TextSimilarityGrader # noqa: PLC0415
        from ..models.tool_call_grader import ToolCallGrader # noqa: PLC0415
        samples: list[dict[str, Any]] | None | Unset
        if isinstance(self.samples, Unset):
            samples = UNSET
        elif isinstance(self.samples, list):
            samples = []
            for samples_type_0_item_data in self.samples:
                samples_type_0_item = samples_type_0_item_data.to_dict()
                samples.append(samples_type_0_item)


        else:
            samples = self.samples

        file_id: None | str | Unset
        if isinstance(self.file_id, Unset):
            file_id = UNSET
        else:
            file_id = self.file_id

        job_id: None | str | Unset
        if isinstance(self.job_id, Unset):
            job_id = UNSET
        else:
            job_id = self.job_id

        compare_with: dict[str, Any] | None | Unset
        if isinstance(self.compare_with, Unset):
            compare_with = UNSET
        elif isinstance(self.compare_with, StringCheckGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, TextSimilarityGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, ExactMatchGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, ContainsGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, JsonValidGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, RegexGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, FormatGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, LengthBoundsGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, ToolCallGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, PythonGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, CodeExecutionGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, ScoreModelGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, LabelModelGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, LlmJudgeGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, AiJudgeGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, EndpointGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, EnvironmentGrader):
            compare_with = self.compare_with.to_dict()
        elif isinstance(self.compare_with, MultiGrader):
            compare_with = self.compare_with.to_dict()
        else:
            compare_with = self.compare_with


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if samples is not UNSET:
            field_dict["samples"] = samples
        if file_id is not UNSET:
            field_dict["file_id"] = file_id
        if job_id is not UNSET:
            field_dict["job_id"] = job_id
        if compare_with is not UNSET:
            field_dict["compare_with"] = compare_with

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.ai_judge_grader import AiJudgeGrader # noqa: PLC0415
        from ..models.calibration_sample import CalibrationSample # noqa: PLC0415
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
        from ..models.score_model_grader import ScoreModelGrader # noqa: PLC0415
        from ..models.string_check_grader import StringCheckGrader # noqa: PLC0415
        from ..models.text_similarity_grader import TextSimilarityGrader # noqa: PLC0415
        from ..models.tool_call_grader import ToolCallGrader # noqa: PLC0415
        d = dict(src_dict)
        def _parse_samples(data: object) -> list[CalibrationSample] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                samples_type_0 = []
                _samples_type_0 = data
                for samples_type_0_item_data in (_samples_type_0):
                    samples_type_0_item = CalibrationSample.from_dict(samples_type_0_item_data)



                    samples_type_0.append(samples_type_0_item)

                return samples_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[CalibrationSample] | None | Unset, data)

        samples = _parse_samples(d.pop("samples", UNSET))


        def _parse_file_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        file_id = _parse_file_id(d.pop("file_id", UNSET))


        def _parse_job_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        job_id = _parse_job_id(d.pop("job_id", UNSET))


        def _parse_compare_with(data: object) -> AiJudgeGrader | CodeExecutionGrader | ContainsGrader | EndpointGrader | EnvironmentGrader | ExactMatchGrader | FormatGrader | JsonValidGrader | LabelModelGrader | LengthBoundsGrader | LlmJudgeGrader | MultiGrader | None | PythonGrader | RegexGrader | ScoreModelGrader | StringCheckGrader | TextSimilarityGrader | ToolCallGrader | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_0 = StringCheckGrader.from_dict(data)



                return compare_with_type_0_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_1 = TextSimilarityGrader.from_dict(data)



                return compare_with_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_2 = ExactMatchGrader.from_dict(data)



                return compare_with_type_0_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_3 = ContainsGrader.from_dict(data)



                return compare_with_type_0_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_4 = JsonValidGrader.from_dict(data)



                return compare_with_type_0_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_5 = RegexGrader.from_dict(data)



                return compare_with_type_0_type_5
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_6 = FormatGrader.from_dict(data)



                return compare_with_type_0_type_6
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_7 = LengthBoundsGrader.from_dict(data)



                return compare_with_type_0_type_7
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_8 = ToolCallGrader.from_dict(data)



                return compare_with_type_0_type_8
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_9 = PythonGrader.from_dict(data)



                return compare_with_type_0_type_9
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_10 = CodeExecutionGrader.from_dict(data)



                return compare_with_type_0_type_10
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_11 = ScoreModelGrader.from_dict(data)



                return compare_with_type_0_type_11
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_12 = LabelModelGrader.from_dict(data)



                return compare_with_type_0_type_12
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_13 = LlmJudgeGrader.from_dict(data)



                return compare_with_type_0_type_13
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_14 = AiJudgeGrader.from_dict(data)



                return compare_with_type_0_type_14
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_15 = EndpointGrader.from_dict(data)



                return compare_with_type_0_type_15
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_16 = EnvironmentGrader.from_dict(data)



                return compare_with_type_0_type_16
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                compare_with_type_0_type_17 = MultiGrader.from_dict(data)



                return compare_with_type_0_type_17
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AiJudgeGrader | CodeExecutionGrader | ContainsGrader | EndpointGrader | EnvironmentGrader | ExactMatchGrader | FormatGrader | JsonValidGrader | LabelModelGrader | LengthBoundsGrader | LlmJudgeGrader | MultiGrader | None | PythonGrader | RegexGrader | ScoreModelGrader | StringCheckGrader | TextSimilarityGrader | ToolCallGrader | Unset, data)

        compare_with = _parse_compare_with(d.pop("compare_with", UNSET))


        calibrate_grader = cls(
            samples=samples,
            file_id=file_id,
            job_id=job_id,
            compare_with=compare_with,
        )


        calibrate_grader.additional_properties = d
        return calibrate_grader

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
