from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="Wandb")



@_attrs_define
class Wandb:
    """ Project and run in Weights & Biases for the curves.

        Attributes:
            project (str): Name of the project there.
            name (None | str | Unset): Name of the run; absent: the suffix of the job, or its id.
            entity (None | str | Unset): Team or user that owns the project; absent: that of the key.
            tags (list[str] | None | Unset): Tags of the run, at most 50 of at most 64 characters.
            api_key (None | str | Unset): Key of your account (an extension); stored sealed and never shown. Absent: the
                operator's key; without any key the run is written offline, for `wandb sync`.
            traces_per_step (int | Unset): Rollouts of each training step in the table `rollouts` (an extension): those of
                the highest and of the lowest rewards; 0 writes none. Default: 2.
     """

    project: str
    name: None | str | Unset = UNSET
    entity: None | str | Unset = UNSET
    tags: list[str] | None | Unset = UNSET
    api_key: None | str | Unset = UNSET
    traces_per_step: int | Unset = 2
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        project = self.project

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        entity: None | str | Unset
        if isinstance(self.entity, Unset):
            entity = UNSET
        else:
            entity = self.entity

        tags: list[str] | None | Unset
        if isinstance(self.tags, Unset):
            tags = UNSET
        elif isinstance(self.tags, list):
            tags = self.tags


        else:
            tags = self.tags

        api_key: None | str | Unset
        if isinstance(self.api_key, Unset):
            api_key = UNSET
        else:
            api_key = self.api_key

        traces_per_step = self.traces_per_step


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "project": project,
        })
        if name is not UNSET:
            field_dict["name"] = name
        if entity is not UNSET:
            field_dict["entity"] = entity
        if tags is not UNSET:
            field_dict["tags"] = tags
        if api_key is not UNSET:
            field_dict["api_key"] = api_key
        if traces_per_step is not UNSET:
            field_dict["traces_per_step"] = traces_per_step

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        project = d.pop("project")

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))


        def _parse_entity(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        entity = _parse_entity(d.pop("entity", UNSET))


        def _parse_tags(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tags_type_0 = cast(list[str], data)

                return tags_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        tags = _parse_tags(d.pop("tags", UNSET))


        def _parse_api_key(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        api_key = _parse_api_key(d.pop("api_key", UNSET))


        traces_per_step = d.pop("traces_per_step", UNSET)

        wandb = cls(
            project=project,
            name=name,
            entity=entity,
            tags=tags,
            api_key=api_key,
            traces_per_step=traces_per_step,
        )


        wandb.additional_properties = d
        return wandb

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
