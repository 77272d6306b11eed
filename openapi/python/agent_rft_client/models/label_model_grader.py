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
  from ..models.label_model_grader_headers_type_0 import LabelModelGraderHeadersType0





T = TypeVar("T", bound="LabelModelGrader")



@_attrs_define
class LabelModelGrader:
    """ 1 when the label that the model chooses is one of the passing ones, else 0.

        Attributes:
            model (str): Name of the judge: a model of this service, or of the server at `base_url`.
            type_ (Literal['label_model']): Selects the kind of the object.
            input_ (list[JudgeMessage]): The judge's prompt, whose texts are templates.
            labels (list[str]): Labels that the judge chooses from.
            passing_labels (list[str]): Labels that score 1.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            sampling_params (JudgeSampling | None | Unset): Sampling of the judge.
            base_url (None | str | Unset): The customer's own OpenAI-compatible server, e.g. `https://api.example/v1` (an
                extension).
            headers (LabelModelGraderHeadersType0 | None | Unset): Headers for `base_url` alone (an extension).
            name (str | Unset): Name for readers; it need not be unique. Default: 'label_model'.
     """

    model: str
    type_: Literal['label_model']
    input_: list[JudgeMessage]
    labels: list[str]
    passing_labels: list[str]
    pass_threshold: float | None | Unset = UNSET
    sampling_params: JudgeSampling | None | Unset = UNSET
    base_url: None | str | Unset = UNSET
    headers: LabelModelGraderHeadersType0 | None | Unset = UNSET
    name: str | Unset = 'label_model'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.judge_message import JudgeMessage # noqa: PLC0415
        from ..models.judge_sampling import JudgeSampling # noqa: PLC0415
        from ..models.label_model_grader_headers_type_0 import LabelModelGraderHeadersType0 # noqa: PLC0415
        model = self.model

        type_ = self.type_

        input_ = []
        for input_item_data in self.input_:
            input_item = input_item_data.to_dict()
            input_.append(input_item)



        labels = self.labels



        passing_labels = self.passing_labels



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
        elif isinstance(self.headers, LabelModelGraderHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers

        name = self.name


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "model": model,
            "type": type_,
            "input": input_,
            "labels": labels,
            "passing_labels": passing_labels,
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

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.judge_message import JudgeMessage # noqa: PLC0415
        from ..models.judge_sampling import JudgeSampling # noqa: PLC0415
        from ..models.label_model_grader_headers_type_0 import LabelModelGraderHeadersType0 # noqa: PLC0415
        d = dict(src_dict)
        model = d.pop("model")

        type_ = cast(Literal['label_model'] , d.pop("type"))
        if type_ != 'label_model':
            raise ValueError(f"type must match const 'label_model', got '{type_}'")

        input_ = []
        _input_ = d.pop("input")
        for input_item_data in (_input_):
            input_item = JudgeMessage.from_dict(input_item_data)



            input_.append(input_item)


        labels = cast(list[str], d.pop("labels"))


        passing_labels = cast(list[str], d.pop("passing_labels"))


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


        def _parse_headers(data: object) -> LabelModelGraderHeadersType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = LabelModelGraderHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LabelModelGraderHeadersType0 | None | Unset, data)

        headers = _parse_headers(d.pop("headers", UNSET))


        name = d.pop("name", UNSET)

        label_model_grader = cls(
            model=model,
            type_=type_,
            input_=input_,
            labels=labels,
            passing_labels=passing_labels,
            pass_threshold=pass_threshold,
            sampling_params=sampling_params,
            base_url=base_url,
            headers=headers,
            name=name,
        )


        label_model_grader.additional_properties = d
        return label_model_grader

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
