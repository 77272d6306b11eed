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
  from ..models.llm_judge_environment_headers_type_0 import LlmJudgeEnvironmentHeadersType0





T = TypeVar("T", bound="LlmJudgeEnvironment")



@_attrs_define
class LlmJudgeEnvironment:
    """ Open questions; a judge scores each answer by a rubric, 0 to 1.

        Attributes:
            type_ (Literal['llm_judge']): Selects the kind of the object.
            seed (int | Unset): Seed of the tasks: equal options and an equal seed give equal tasks. Default: 0.
            training_tasks (int | Unset): Number of tasks to train on. Default: 256.
            validation_tasks (int | Unset): Number of held-out tasks; none of them is a training task. Default: 32.
            model (None | str | Unset): Name of the judge: a model of this service, or of the server at `base_url`. Required
                where the job has no other `grader`.
            base_url (None | str | Unset): The customer's own OpenAI-compatible server, e.g. `https://api.example/v1`.
            headers (LlmJudgeEnvironmentHeadersType0 | None | Unset): Headers for `base_url` alone.
            sampling_params (JudgeSampling | None | Unset): Sampling of the judge.
            rubric (list[Criterion] | Unset): The criteria of the judge and their weights.
            prompts (list[str] | None | Unset): The questions to draw from, all different; absent: questions of this
                service.
     """

    type_: Literal['llm_judge']
    seed: int | Unset = 0
    training_tasks: int | Unset = 256
    validation_tasks: int | Unset = 32
    model: None | str | Unset = UNSET
    base_url: None | str | Unset = UNSET
    headers: LlmJudgeEnvironmentHeadersType0 | None | Unset = UNSET
    sampling_params: JudgeSampling | None | Unset = UNSET
    rubric: list[Criterion] | Unset = UNSET
    prompts: list[str] | None | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.criterion import Criterion # noqa: PLC0415
        from ..models.judge_sampling import JudgeSampling # noqa: PLC0415
        from ..models.llm_judge_environment_headers_type_0 import LlmJudgeEnvironmentHeadersType0 # noqa: PLC0415
        type_ = self.type_

        seed = self.seed

        training_tasks = self.training_tasks

        validation_tasks = self.validation_tasks

        model: None | str | Unset
        if isinstance(self.model, Unset):
            model = UNSET
        else:
            model = self.model

        base_url: None | str | Unset
        if isinstance(self.base_url, Unset):
            base_url = UNSET
        else:
            base_url = self.base_url

        headers: dict[str, Any] | None | Unset
        if isinstance(self.headers, Unset):
            headers = UNSET
        elif isinstance(self.headers, LlmJudgeEnvironmentHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers

        sampling_params: dict[str, Any] | None | Unset
        if isinstance(self.sampling_params, Unset):
            sampling_params = UNSET
        elif isinstance(self.sampling_params, JudgeSampling):
            sampling_params = self.sampling_params.to_dict()
        else:
            sampling_params = self.sampling_params

        rubric: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.rubric, Unset):
            rubric = []
            for rubric_item_data in self.rubric:
                rubric_item = rubric_item_data.to_dict()
                rubric.append(rubric_item)



        prompts: list[str] | None | Unset
        if isinstance(self.prompts, Unset):
            prompts = UNSET
        elif isinstance(self.prompts, list):
            prompts = self.prompts


        else:
            prompts = self.prompts


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "type": type_,
        })
        if seed is not UNSET:
            field_dict["seed"] = seed
        if training_tasks is not UNSET:
            field_dict["training_tasks"] = training_tasks
        if validation_tasks is not UNSET:
            field_dict["validation_tasks"] = validation_tasks
        if model is not UNSET:
            field_dict["model"] = model
        if base_url is not UNSET:
            field_dict["base_url"] = base_url
        if headers is not UNSET:
            field_dict["headers"] = headers
        if sampling_params is not UNSET:
            field_dict["sampling_params"] = sampling_params
        if rubric is not UNSET:
            field_dict["rubric"] = rubric
        if prompts is not UNSET:
            field_dict["prompts"] = prompts

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.criterion import Criterion # noqa: PLC0415
        from ..models.judge_sampling import JudgeSampling # noqa: PLC0415
        from ..models.llm_judge_environment_headers_type_0 import LlmJudgeEnvironmentHeadersType0 # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['llm_judge'] , d.pop("type"))
        if type_ != 'llm_judge':
            raise ValueError(f"type must match const 'llm_judge', got '{type_}'")

        seed = d.pop("seed", UNSET)

        training_tasks = d.pop("training_tasks", UNSET)

        validation_tasks = d.pop("validation_tasks", UNSET)

        def _parse_model(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        model = _parse_model(d.pop("model", UNSET))


        def _parse_base_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        base_url = _parse_base_url(d.pop("base_url", UNSET))


        def _parse_headers(data: object) -> LlmJudgeEnvironmentHeadersType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = LlmJudgeEnvironmentHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LlmJudgeEnvironmentHeadersType0 | None | Unset, data)

        headers = _parse_headers(d.pop("headers", UNSET))


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


        _rubric = d.pop("rubric", UNSET)
        rubric: list[Criterion] | Unset = UNSET
        if _rubric is not UNSET:
            rubric = []
            for rubric_item_data in _rubric:
                rubric_item = Criterion.from_dict(rubric_item_data)



                rubric.append(rubric_item)


        def _parse_prompts(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                prompts_type_0 = cast(list[str], data)

                return prompts_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        prompts = _parse_prompts(d.pop("prompts", UNSET))


        llm_judge_environment = cls(
            type_=type_,
            seed=seed,
            training_tasks=training_tasks,
            validation_tasks=validation_tasks,
            model=model,
            base_url=base_url,
            headers=headers,
            sampling_params=sampling_params,
            rubric=rubric,
            prompts=prompts,
        )

        return llm_judge_environment

