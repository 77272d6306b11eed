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
  from ..models.trackio import Trackio





T = TypeVar("T", bound="TrackioIntegration")



@_attrs_define
class TrackioIntegration:
    """ A local database of Trackio in the installation's directory of trackers (an extension).

        Attributes:
            type_ (Literal['trackio']): Trackio.
            trackio (Trackio | Unset): Project and run for the curves.
     """

    type_: Literal['trackio']
    trackio: Trackio | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.trackio import Trackio # noqa: PLC0415
        type_ = self.type_

        trackio: dict[str, Any] | Unset = UNSET
        if not isinstance(self.trackio, Unset):
            trackio = self.trackio.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
        })
        if trackio is not UNSET:
            field_dict["trackio"] = trackio

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.trackio import Trackio # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['trackio'] , d.pop("type"))
        if type_ != 'trackio':
            raise ValueError(f"type must match const 'trackio', got '{type_}'")

        _trackio = d.pop("trackio", UNSET)
        trackio: Trackio | Unset
        if isinstance(_trackio,  Unset):
            trackio = UNSET
        else:
            trackio = Trackio.from_dict(_trackio)




        trackio_integration = cls(
            type_=type_,
            trackio=trackio,
        )


        trackio_integration.additional_properties = d
        return trackio_integration

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
