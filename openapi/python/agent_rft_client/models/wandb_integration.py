from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.wandb import Wandb





T = TypeVar("T", bound="WandbIntegration")



@_attrs_define
class WandbIntegration:
    """ A run in Weights & Biases. Unknown keys are left out.

        Attributes:
            type_ (Literal['wandb']): Weights & Biases.
            wandb (Wandb): Project and run in Weights & Biases for the curves.
     """

    type_: Literal['wandb']
    wandb: Wandb
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.wandb import Wandb # noqa: PLC0415
        type_ = self.type_

        wandb = self.wandb.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
            "wandb": wandb,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.wandb import Wandb # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['wandb'] , d.pop("type"))
        if type_ != 'wandb':
            raise ValueError(f"type must match const 'wandb', got '{type_}'")

        wandb = Wandb.from_dict(d.pop("wandb"))




        wandb_integration = cls(
            type_=type_,
            wandb=wandb,
        )


        wandb_integration.additional_properties = d
        return wandb_integration

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
