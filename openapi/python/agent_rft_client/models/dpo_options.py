from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.dpo_options_variant import check_dpo_options_variant
from ..models.dpo_options_variant import DpoOptionsVariant
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="DpoOptions")



@_attrs_define
class DpoOptions:
    """ DPO loss of pairs; its weight is `method.dpo.hyperparameters.beta`.

        Attributes:
            type_ (Literal['dpo'] | Unset): Selects the kind of the object. Default: 'dpo'.
            variant (DpoOptionsVariant | Unset): `ipo` is the squared loss of IPO. Default: 'sigmoid'.
            label_smoothing (float | Unset): Assumed share of pairs with swapped labels; for `sigmoid`. Default: 0.0.
     """

    type_: Literal['dpo'] | Unset = 'dpo'
    variant: DpoOptionsVariant | Unset = 'sigmoid'
    label_smoothing: float | Unset = 0.0





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        variant: str | Unset = UNSET
        if not isinstance(self.variant, Unset):
            variant = self.variant


        label_smoothing = self.label_smoothing


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if type_ is not UNSET:
            field_dict["type"] = type_
        if variant is not UNSET:
            field_dict["variant"] = variant
        if label_smoothing is not UNSET:
            field_dict["label_smoothing"] = label_smoothing

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['dpo'] | Unset , d.pop("type", UNSET))
        if type_ != 'dpo'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'dpo', got '{type_}'")

        _variant = d.pop("variant", UNSET)
        variant: DpoOptionsVariant | Unset
        if isinstance(_variant,  Unset):
            variant = UNSET
        else:
            variant = check_dpo_options_variant(_variant)




        label_smoothing = d.pop("label_smoothing", UNSET)

        dpo_options = cls(
            type_=type_,
            variant=variant,
            label_smoothing=label_smoothing,
        )

        return dpo_options

