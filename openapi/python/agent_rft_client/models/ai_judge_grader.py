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
  from ..models.ai_judge_grader_headers_type_0 import AiJudgeGraderHeadersType0
  from ..models.judge_sampling import JudgeSampling





T = TypeVar("T", bound="AiJudgeGrader")



@_attrs_define
class AiJudgeGrader:
    """ A judge that scores the rollouts of a group against each other, 0…1, also as a part of a
    `multi` grader of a job. In an eval or a trial run it scores a single rollout.

        Attributes:
            model (str): Name of the judge: a model of this service, or of the server at `base_url`.
            type_ (Literal['ai_judge']): Selects the kind of the object.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            sampling_params (JudgeSampling | None | Unset): Sampling of the judge.
            base_url (None | str | Unset): The customer's own OpenAI-compatible server, e.g. `https://api.example/v1` (an
                extension).
            headers (AiJudgeGraderHeadersType0 | None | Unset): Headers for `base_url` alone (an extension).
            name (str | Unset): Name for readers; it need not be unique. Default: 'ai_judge'.
            rubric (str | Unset): Criteria of the judge. Not a template. Default: '- A rollout that reaches the goal scores
                clearly higher than one that does not.\\n- Among rollouts that reach it, the more direct one scores higher:
                fewer wasted steps and calls.\\n- A difference of scores is as large as the difference of quality: nearly equal
                rollouts score nearly the same.\\n- A rollout that makes real progress without reaching the goal scores more
                than one without any.'.
            repeats (int | Unset): Number of calls for each group, each with the rollouts in another order; the score is the
                mean. Default: 1.
            shuffle_seed (int | Unset): Seed of these orders. Default: 0.
     """

    model: str
    type_: Literal['ai_judge']
    pass_threshold: float | None | Unset = UNSET
    sampling_params: JudgeSampling | None | Unset = UNSET
    base_url: None | str | Unset = UNSET
    headers: AiJudgeGraderHeadersType0 | None | Unset = UNSET
    name: str | Unset = 'ai_judge'
    rubric: str | Unset = '- A rollout that reaches the goal scores clearly higher than one that does not.\n- Among rollouts that reach it, the more direct one scores higher: fewer wasted steps and calls.\n- A difference of scores is as large as the difference of quality: nearly equal rollouts score nearly the same.\n- A rollout that makes real progress without reaching the goal scores more than one without any.'
    repeats: int | Unset = 1
    shuffle_seed: int | Unset = 0
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.ai_judge_grader_headers_type_0 import AiJudgeGraderHeadersType0 # noqa: PLC0415
        from ..models.judge_sampling import JudgeSampling # noqa: PLC0415
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
        elif isinstance(self.headers, AiJudgeGraderHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers

        name = self.name

        rubric = self.rubric

        repeats = self.repeats

        shuffle_seed = self.shuffle_seed


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
        if rubric is not UNSET:
            field_dict["rubric"] = rubric
        if repeats is not UNSET:
            field_dict["repeats"] = repeats
        if shuffle_seed is not UNSET:
            field_dict["shuffle_seed"] = shuffle_seed

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.ai_judge_grader_headers_type_0 import AiJudgeGraderHeadersType0 # noqa: PLC0415
        from ..models.judge_sampling import JudgeSampling # noqa: PLC0415
        d = dict(src_dict)
        model = d.pop("model")

        type_ = cast(Literal['ai_judge'] , d.pop("type"))
        if type_ != 'ai_judge':
            raise ValueError(f"type must match const 'ai_judge', got '{type_}'")

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


        def _parse_headers(data: object) -> AiJudgeGraderHeadersType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = AiJudgeGraderHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AiJudgeGraderHeadersType0 | None | Unset, data)

        headers = _parse_headers(d.pop("headers", UNSET))


        name = d.pop("name", UNSET)

        rubric = d.pop("rubric", UNSET)

        repeats = d.pop("repeats", UNSET)

        shuffle_seed = d.pop("shuffle_seed", UNSET)

        ai_judge_grader = cls(
            model=model,
            type_=type_,
            pass_threshold=pass_threshold,
            sampling_params=sampling_params,
            base_url=base_url,
            headers=headers,
            name=name,
            rubric=rubric,
            repeats=repeats,
            shuffle_seed=shuffle_seed,
        )


        ai_judge_grader.additional_properties = d
        return ai_judge_grader

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
