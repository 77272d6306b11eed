from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.advantage_options_type import AdvantageOptionsType
from ..models.advantage_options_type import check_advantage_options_type
from typing import cast






T = TypeVar("T", bound="AdvantageOptions")



@_attrs_define
class AdvantageOptions:
    """ Advantage estimator over the rewards of a prompt's rollouts.

    `centred` (the default): less the group's mean. `std`: that, divided by the group's standard
    deviation. `leave_one_out`: less the mean of the others. `batch_std`: less the group's mean,
    divided by the standard deviation of the whole step.

        Attributes:
            type_ (AdvantageOptionsType): Selects the kind of the object.
     """

    type_: AdvantageOptionsType





    def to_dict(self) -> dict[str, Any]:
        type_: str = self.type_


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "type": type_,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = check_advantage_options_type(d.pop("type"))




        advantage_options = cls(
            type_=type_,
        )

        return advantage_options

