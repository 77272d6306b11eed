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
  from ..models.tensorboard import Tensorboard





T = TypeVar("T", bound="TensorboardIntegration")



@_attrs_define
class TensorboardIntegration:
    """ Event files for TensorBoard, in the installation's directory of trackers (an extension).

        Attributes:
            type_ (Literal['tensorboard']): TensorBoard.
            tensorboard (Tensorboard | Unset): Options of the event files, which always have curves, settings and report.
     """

    type_: Literal['tensorboard']
    tensorboard: Tensorboard | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.tensorboard import Tensorboard # noqa: PLC0415
        type_ = self.type_

        tensorboard: dict[str, Any] | Unset = UNSET
        if not isinstance(self.tensorboard, Unset):
            tensorboard = self.tensorboard.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
        })
        if tensorboard is not UNSET:
            field_dict["tensorboard"] = tensorboard

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.tensorboard import Tensorboard # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['tensorboard'] , d.pop("type"))
        if type_ != 'tensorboard':
            raise ValueError(f"type must match const 'tensorboard', got '{type_}'")

        _tensorboard = d.pop("tensorboard", UNSET)
        tensorboard: Tensorboard | Unset
        if isinstance(_tensorboard,  Unset):
            tensorboard = UNSET
        else:
            tensorboard = Tensorboard.from_dict(_tensorboard)




        tensorboard_integration = cls(
            type_=type_,
            tensorboard=tensorboard,
        )


        tensorboard_integration.additional_properties = d
        return tensorboard_integration

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
