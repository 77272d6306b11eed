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
  from ..models.judge_message import JudgeMessage
  from ..models.judge_sampling import JudgeSampling
  from ..models.score_model_grader_headers_type_0 import ScoreModelGraderHeadersType0





T = TypeVar("T", bound="ScoreModelGrader")



@_attrs_define
class ScoreModelGrader:
    """ A model that answers with a number, clamped to `range`.

        Attributes:
            model (str): Name of the judge: a model of this service, or of the server at `base_url`.
            type_ (Literal['score_model']): Selects the kind of the object.
            input_ (list[JudgeMessage]): The judge's prompt, whose texts are templates.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            sampling_params (JudgeSampling | None | Unset): Sampling of the judge.
            base_url (None | str | Unset): The customer's own OpenAI-compatible server, e.g. `https://api.example/v1` (an
                extension).
            headers (None | ScoreModelGraderHeadersType0 | Unset): Headers for `base_url` alone (an extension).
            name (str | Unset): Name for readers; it need not be unique. Default: 'score_model'.
            range_ (list[float] | Unset): Lowest and highest score.
     """

    model: str
    type_: Literal['score_model']
    input_: list[JudgeMessage]
    pass_threshold: float | None | Unset = UNSET
    sampling_params: JudgeSampling | None | Unset = UNSET
    base_url: None | str | Unset = UNSET
    headers: None | ScoreModelGraderHeadersType0 | Unset = UNSET
    name: str | Unset = 'score_model'
    range_: list[float] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.judge_message import JudgeMessage # noqa: PLC0415
        from ..models.judge_sampling import JudgeSampling # noqa: PLC0415
        from ..models.score_model_grader_headers_type_0 import ScoreModelGraderHeadersType0 # noqa: PLC0415
        model = self.model

        type_ = self.type_

        input_ = []
        for input_item_data in self.input_:
            input_item = input_item_data.to_dict()
            input_.append(input_item)



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
        elif isinstance(self.headers, ScoreModelGraderHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers

        name = self.name

        range_: list[float] | Unset = UNSET
        if not isinstance(self.range_, Unset):
            range_ = []
            for range_item_data in self.range_:
                range_item: float
                range_item = range_item_data
                range_.append(range_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "model": model,
            "type": type_,
            "input": input_,
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
        if range_ is not UNSET:
            field_dict["range"] = range_

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.judge_message import JudgeMessage # noqa: PLC0415
        from ..models.judge_sampling import JudgeSampling # noqa: PLC0415
        from ..models.score_model_grader_headers_type_0 import ScoreModelGraderHeadersType0 # noqa: PLC0415
        d = dict(src_dict)
        model = d.pop("model")

        type_ = cast(Literal['score_model'] , d.pop("type"))
        if type_ != 'score_model':
            raise ValueError(f"type must match const 'score_model', got '{type_}'")

        input_ = []
        _input_ = d.pop("input")
        for input_item_data in (_input_):
            input_item = JudgeMessage.from_dict(input_item_data)



            input_.append(input_item)


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


        def _parse_headers(data: object) -> None | ScoreModelGraderHeadersType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = ScoreModelGraderHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ScoreModelGraderHeadersType0 | Unset, data)

        headers = _parse_headers(d.pop("headers", UNSET))


        name = d.pop("name", UNSET)

        _range_ = d.pop("range", UNSET)
        range_: list[float] | Unset = UNSET
        if _range_ is not UNSET:
            range_ = []
            for range_item_data in _range_:
                def _parse_range_item(data: object) -> float:
                    return cast(float, data)

                range_item = _parse_range_item(range_item_data)

                range_.append(range_item)


        score_model_grader = cls(
            model=model,
            type_=type_,
            input_=input_,
            pass_threshold=pass_threshold,
            sampling_params=sampling_params,
            base_url=base_url,
            headers=headers,
            name=name,
            range_=range_,
        )


        score_model_grader.additional_properties = d
        return score_model_grader

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
