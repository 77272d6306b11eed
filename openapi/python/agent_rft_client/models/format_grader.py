from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="FormatGrader")



@_attrs_define
class FormatGrader:
    """ Share of the expected parts that the text has: tags, or headings that open sections.

        Attributes:
            type_ (Literal['format']): Selects the kind of the object.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            name (str | Unset): Name for readers; it need not be unique. Default: 'format'.
            input_ (str | Unset): Template of the text. Default: '{{sample.output_text}}'.
            tags (list[str] | Unset): Names of tags; each must occur once, as `<name>…</name>`, around some text.
            sections (list[str] | Unset): Lines that open sections; each must occur once, followed by some text before the
                next one.
            ordered (bool | Unset): True: only parts in the order of the list count. Default: True.
            only (bool | Unset): True: text outside of the parts counts as one more missing part. Default: False.
            partial (bool | Unset): True: the score is the share of the parts; otherwise 1 for all of them and 0 for fewer.
                Default: True.
     """

    type_: Literal['format']
    pass_threshold: float | None | Unset = UNSET
    name: str | Unset = 'format'
    input_: str | Unset = '{{sample.output_text}}'
    tags: list[str] | Unset = UNSET
    sections: list[str] | Unset = UNSET
    ordered: bool | Unset = True
    only: bool | Unset = False
    partial: bool | Unset = True
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        pass_threshold: float | None | Unset
        if isinstance(self.pass_threshold, Unset):
            pass_threshold = UNSET
        else:
            pass_threshold = self.pass_threshold

        name = self.name

        input_ = self.input_

        tags: list[str] | Unset = UNSET
        if not isinstance(self.tags, Unset):
            tags = self.tags



        sections: list[str] | Unset = UNSET
        if not isinstance(self.sections, Unset):
            sections = self.sections



        ordered = self.ordered

        only = self.only

        partial = self.partial


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
        })
        if pass_threshold is not UNSET:
            field_dict["pass_threshold"] = pass_threshold
        if name is not UNSET:
            field_dict["name"] = name
        if input_ is not UNSET:
            field_dict["input"] = input_
        if tags is not UNSET:
            field_dict["tags"] = tags
        if sections is not UNSET:
            field_dict["sections"] = sections
        if ordered is not UNSET:
            field_dict["ordered"] = ordered
        if only is not UNSET:
            field_dict["only"] = only
        if partial is not UNSET:
            field_dict["partial"] = partial

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['format'] , d.pop("type"))
        if type_ != 'format':
            raise ValueError(f"type must match const 'format', got '{type_}'")

        def _parse_pass_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        pass_threshold = _parse_pass_threshold(d.pop("pass_threshold", UNSET))


        name = d.pop("name", UNSET)

        input_ = d.pop("input", UNSET)

        tags = cast(list[str], d.pop("tags", UNSET))


        sections = cast(list[str], d.pop("sections", UNSET))


        ordered = d.pop("ordered", UNSET)

        only = d.pop("only", UNSET)

        partial = d.pop("partial", UNSET)

        format_grader = cls(
            type_=type_,
            pass_threshold=pass_threshold,
            name=name,
            input_=input_,
            tags=tags,
            sections=sections,
            ordered=ordered,
            only=only,
            partial=partial,
        )


        format_grader.additional_properties = d
        return format_grader

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
