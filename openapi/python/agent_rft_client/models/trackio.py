from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="Trackio")



@_attrs_define
class Trackio:
    """ Project and run for the curves.

        Attributes:
            project (str | Unset): Name of the project: letters, digits, spaces, `_`, `-` and dots. Default: 'agent-rft'.
            name (None | str | Unset): Name of the run; absent: the suffix of the job, or its id.
            traces_per_step (int | Unset): Rollouts of each training step that become traces: those of the highest and of
                the lowest rewards; 0 writes none. Default: 2.
     """

    project: str | Unset = 'agent-rft'
    name: None | str | Unset = UNSET
    traces_per_step: int | Unset = 2
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        project = self.project

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        traces_per_step = self.traces_per_step


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if project is not UNSET:
            field_dict["project"] = project
        if name is not UNSET:
            field_dict["name"] = name
        if traces_per_step is not UNSET:
            field_dict["traces_per_step"] = traces_per_step

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        project = d.pop("project", UNSET)

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))


        traces_per_step = d.pop("traces_per_step", UNSET)

        trackio = cls(
            project=project,
            name=name,
            traces_per_step=traces_per_step,
        )


        trackio.additional_properties = d
        return trackio

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
