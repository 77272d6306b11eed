from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="ModelUsage")



@_attrs_define
class ModelUsage:
    """ The calls and tokens of one model in an eval run.

        Attributes:
            model_name (str): Name of the model.
            invocation_count (int): Calls of the model.
            prompt_tokens (int): Tokens of prompts.
            completion_tokens (int): Tokens that were sampled.
            cached_tokens (int): Prompt tokens read from a cache.
            total_tokens (int): Prompt and completion tokens.
     """

    model_name: str
    invocation_count: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    total_tokens: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        model_name = self.model_name

        invocation_count = self.invocation_count

        prompt_tokens = self.prompt_tokens

        completion_tokens = self.completion_tokens

        cached_tokens = self.cached_tokens

        total_tokens = self.total_tokens


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "model_name": model_name,
            "invocation_count": invocation_count,
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "cached_tokens": cached_tokens,
            "total_tokens": total_tokens,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        model_name = d.pop("model_name")

        invocation_count = d.pop("invocation_count")

        prompt_tokens = d.pop("prompt_tokens")

        completion_tokens = d.pop("completion_tokens")

        cached_tokens = d.pop("cached_tokens")

        total_tokens = d.pop("total_tokens")

        model_usage = cls(
            model_name=model_name,
            invocation_count=invocation_count,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            cached_tokens=cached_tokens,
            total_tokens=total_tokens,
        )


        model_usage.additional_properties = d
        return model_usage

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
