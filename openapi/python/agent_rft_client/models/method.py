from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.method_type import check_method_type
from ..models.method_type import MethodType
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.dpo_method import DpoMethod
  from ..models.reinforcement_body import ReinforcementBody
  from ..models.supervised_method import SupervisedMethod





T = TypeVar("T", bound="Method")



@_attrs_define
class Method:
    """ The training method and its settings, under the key of its type.

        Attributes:
            type_ (MethodType): The training method.
            reinforcement (None | ReinforcementBody | Unset): Options of reinforcement learning.
            supervised (None | SupervisedMethod | Unset): Options of supervised training.
            dpo (DpoMethod | None | Unset): Options of preference training.
     """

    type_: MethodType
    reinforcement: None | ReinforcementBody | Unset = UNSET
    supervised: None | SupervisedMethod | Unset = UNSET
    dpo: DpoMethod | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.dpo_method import DpoMethod # noqa: PLC0415
        from ..models.reinforcement_body import ReinforcementBody # noqa: PLC0415
        from ..models.supervised_method import SupervisedMethod # noqa: PLC0415
        type_: str = self.type_

        reinforcement: dict[str, Any] | None | Unset
        if isinstance(self.reinforcement, Unset):
            reinforcement = UNSET
        elif isinstance(self.reinforcement, ReinforcementBody):
            reinforcement = self.reinforcement.to_dict()
        else:
            reinforcement = self.reinforcement

        supervised: dict[str, Any] | None | Unset
        if isinstance(self.supervised, Unset):
            supervised = UNSET
        elif isinstance(self.supervised, SupervisedMethod):
            supervised = self.supervised.to_dict()
        else:
            supervised = self.supervised

        dpo: dict[str, Any] | None | Unset
        if isinstance(self.dpo, Unset):
            dpo = UNSET
        elif isinstance(self.dpo, DpoMethod):
            dpo = self.dpo.to_dict()
        else:
            dpo = self.dpo


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
        })
        if reinforcement is not UNSET:
            field_dict["reinforcement"] = reinforcement
        if supervised is not UNSET:
            field_dict["supervised"] = supervised
        if dpo is not UNSET:
            field_dict["dpo"] = dpo

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.dpo_method import DpoMethod # noqa: PLC0415
        from ..models.reinforcement_body import ReinforcementBody # noqa: PLC0415
        from ..models.supervised_method import SupervisedMethod # noqa: PLC0415
        d = dict(src_dict)
        type_ = check_method_type(d.pop("type"))




        def _parse_reinforcement(data: object) -> None | ReinforcementBody | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                reinforcement_type_0 = ReinforcementBody.from_dict(data)



                return reinforcement_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReinforcementBody | Unset, data)

        reinforcement = _parse_reinforcement(d.pop("reinforcement", UNSET))


        def _parse_supervised(data: object) -> None | SupervisedMethod | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                supervised_type_0 = SupervisedMethod.from_dict(data)



                return supervised_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SupervisedMethod | Unset, data)

        supervised = _parse_supervised(d.pop("supervised", UNSET))


        def _parse_dpo(data: object) -> DpoMethod | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                dpo_type_0 = DpoMethod.from_dict(data)



                return dpo_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DpoMethod | None | Unset, data)

        dpo = _parse_dpo(d.pop("dpo", UNSET))


        method = cls(
            type_=type_,
            reinforcement=reinforcement,
            supervised=supervised,
            dpo=dpo,
        )


        method.additional_properties = d
        return method

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
