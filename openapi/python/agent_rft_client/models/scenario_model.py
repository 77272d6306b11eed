from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.judge_sampling import JudgeSampling
  from ..models.scenario_model_headers_type_0 import ScenarioModelHeadersType0





T = TypeVar("T", bound="ScenarioModel")



@_attrs_define
class ScenarioModel:
    """ The model that writes scenarios, on this service or on an OpenAI-compatible server.

        Attributes:
            model (str): Name of the model: one of this service, or of the server at `base_url`.
            sampling_params (JudgeSampling | None | Unset): Sampling of the model.
            base_url (None | str | Unset): An OpenAI-compatible server, e.g. `https://api.example/v1`.
            headers (None | ScenarioModelHeadersType0 | Unset): Headers for `base_url` alone; they are used for this call
                and not kept.
     """

    model: str
    sampling_params: JudgeSampling | None | Unset = UNSET
    base_url: None | str | Unset = UNSET
    headers: None | ScenarioModelHeadersType0 | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.judge_sampling import JudgeSampling # noqa: PLC0415
        from ..models.scenario_model_headers_type_0 import ScenarioModelHeadersType0 # noqa: PLC0415
        model = self.model

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
        elif isinstance(self.headers, ScenarioModelHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "model": model,
        })
        if sampling_params is not UNSET:
            field_dict["sampling_params"] = sampling_params
        if base_url is not UNSET:
            field_dict["base_url"] = base_url
        if headers is not UNSET:
            field_dict["headers"] = headers

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.judge_sampling import JudgeSampling # noqa: PLC0415
        from ..models.scenario_model_headers_type_0 import ScenarioModelHeadersType0 # noqa: PLC0415
        d = dict(src_dict)
        model = d.pop("model")

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


        def _parse_headers(data: object) -> None | ScenarioModelHeadersType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = ScenarioModelHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ScenarioModelHeadersType0 | Unset, data)

        headers = _parse_headers(d.pop("headers", UNSET))


        scenario_model = cls(
            model=model,
            sampling_params=sampling_params,
            base_url=base_url,
            headers=headers,
        )

        return scenario_model

