from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="CompletionsUsage")



@_attrs_define
class CompletionsUsage:
    """ The usage of chat completions.

        Attributes:
            project_id (None | str): The project, when results are grouped by it.
            api_key_id (None | str): The API key that called, or that created the job, when results are grouped by it.
            object_ (Literal['organization.usage.completions.result']): Type of the object; each type has one constant
                value. Default: 'organization.usage.completions.result'.
            input_tokens (int): Tokens of prompts, cached ones included.
            output_tokens (int): Tokens that were sampled.
            input_cached_tokens (int): Tokens of prompts that the engine had in its cache.
            input_audio_tokens (Literal[0]): Always 0. Default: 0.
            output_audio_tokens (Literal[0]): Always 0. Default: 0.
            num_model_requests (int): Chat completions.
            user_id (None): Always `null`: the service has no users.
            model (None | str): The model, when results are grouped by it.
            batch (None): Always `null`: no call is a batch.
            service_tier (None): Always `null`.
     """

    project_id: None | str
    api_key_id: None | str
    input_tokens: int
    output_tokens: int
    input_cached_tokens: int
    num_model_requests: int
    user_id: None
    model: None | str
    batch: None
    service_tier: None
    object_: Literal['organization.usage.completions.result'] = 'organization.usage.completions.result'
    input_audio_tokens: Literal[0] = 0
    output_audio_tokens: Literal[0] = 0
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        project_id: None | str
        project_id = self.project_id

        api_key_id: None | str
        api_key_id = self.api_key_id

        object_ = self.object_

        input_tokens = self.input_tokens

        output_tokens = self.output_tokens

        input_cached_tokens = self.input_cached_tokens

        input_audio_tokens = self.input_audio_tokens

        output_audio_tokens = self.output_audio_tokens

        num_model_requests = self.num_model_requests

        user_id = self.user_id

        model: None | str
        model = self.model

        batch = self.batch

        service_tier = self.service_tier


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "project_id": project_id,
            "api_key_id": api_key_id,
            "object": object_,
            "input_tokens": input_tokens,
            "output_tokens": output_tokens,
            "input_cached_tokens": input_cached_tokens,
            "input_audio_tokens": input_audio_tokens,
            "output_audio_tokens": output_audio_tokens,
            "num_model_requests": num_model_requests,
            "user_id": user_id,
            "model": model,
            "batch": batch,
            "service_tier": service_tier,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_project_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        project_id = _parse_project_id(d.pop("project_id"))


        def _parse_api_key_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        api_key_id = _parse_api_key_id(d.pop("api_key_id"))


        object_ = cast(Literal['organization.usage.completions.result'] , d.pop("object"))
        if object_ != 'organization.usage.completions.result':
            raise ValueError(f"object must match const 'organization.usage.completions.result', got '{object_}'")

        input_tokens = d.pop("input_tokens")

        output_tokens = d.pop("output_tokens")

        input_cached_tokens = d.pop("input_cached_tokens")

        input_audio_tokens = cast(Literal[0] , d.pop("input_audio_tokens"))
        if input_audio_tokens != 0:
            raise ValueError(f"input_audio_tokens must match const 0, got '{input_audio_tokens}'")

        output_audio_tokens = cast(Literal[0] , d.pop("output_audio_tokens"))
        if output_audio_tokens != 0:
            raise ValueError(f"output_audio_tokens must match const 0, got '{output_audio_tokens}'")

        num_model_requests = d.pop("num_model_requests")

        user_id = d.pop("user_id")

        def _parse_model(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        model = _parse_model(d.pop("model"))


        batch = d.pop("batch")

        service_tier = d.pop("service_tier")

        completions_usage = cls(
            project_id=project_id,
            api_key_id=api_key_id,
            object_=object_,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            input_cached_tokens=input_cached_tokens,
            input_audio_tokens=input_audio_tokens,
            output_audio_tokens=output_audio_tokens,
            num_model_requests=num_model_requests,
            user_id=user_id,
            model=model,
            batch=batch,
            service_tier=service_tier,
        )


        completions_usage.additional_properties = d
        return completions_usage

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
