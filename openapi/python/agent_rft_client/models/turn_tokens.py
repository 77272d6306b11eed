from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast






T = TypeVar("T", bound="TurnTokens")



@_attrs_define
class TurnTokens:
    """ The sampled tokens of one turn, in three parallel lists.

        Attributes:
            texts (list[str]): Text of each token; joined, the decoded turn with its marks of calls and reasoning. The first
                token of a character that spans several has all of it, and the others are empty, like a token that ends the
                turn.
            log_probs (list[float | None]): Natural log of the probability with which each token was sampled, at the
                sampling temperature.
            ratios (list[float | None]): Probability of each token under the policy that was trained, before the update,
                divided by the one with which it was sampled. `null` for a token that was not trained: of a validation, of a
                lost rollout, or of a group that gave no gradient.
     """

    texts: list[str]
    log_probs: list[float | None]
    ratios: list[float | None]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        texts = self.texts



        log_probs = []
        for log_probs_item_data in self.log_probs:
            log_probs_item: float | None
            log_probs_item = log_probs_item_data
            log_probs.append(log_probs_item)



        ratios = []
        for ratios_item_data in self.ratios:
            ratios_item: float | None
            ratios_item = ratios_item_data
            ratios.append(ratios_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "texts": texts,
            "log_probs": log_probs,
            "ratios": ratios,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        texts = cast(list[str], d.pop("texts"))


        log_probs = []
        _log_probs = d.pop("log_probs")
        for log_probs_item_data in (_log_probs):
            def _parse_log_probs_item(data: object) -> float | None:
                if data is None:
                    return data
                return cast(float | None, data)

            log_probs_item = _parse_log_probs_item(log_probs_item_data)

            log_probs.append(log_probs_item)


        ratios = []
        _ratios = d.pop("ratios")
        for ratios_item_data in (_ratios):
            def _parse_ratios_item(data: object) -> float | None:
                if data is None:
                    return data
                return cast(float | None, data)

            ratios_item = _parse_ratios_item(ratios_item_data)

            ratios.append(ratios_item)


        turn_tokens = cls(
            texts=texts,
            log_probs=log_probs,
            ratios=ratios,
        )


        turn_tokens.additional_properties = d
        return turn_tokens

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
