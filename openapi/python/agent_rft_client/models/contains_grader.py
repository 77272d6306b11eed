from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.contains_grader_match import check_contains_grader_match
from ..models.contains_grader_match import ContainsGraderMatch
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="ContainsGrader")



@_attrs_define
class ContainsGrader:
    """ 1 when a text contains any or all of the needles; or the share of needles that it
    contains.

        Attributes:
            type_ (Literal['contains']): Selects the kind of the object.
            needles (list[str]): Templates of the texts that are looked for; an empty one is never found.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            name (str | Unset): Name for readers; it need not be unique. Default: 'contains'.
            input_ (str | Unset): Template of the text that is searched. Default: '{{sample.output_text}}'.
            match (ContainsGraderMatch | Unset): `any`, `all`: 1 if any or all needles are found; `share`: the share of
                found needles. Default: 'all'.
            ignore_case (bool | Unset): True ignores case, by Unicode case folding. Default: False.
     """

    type_: Literal['contains']
    needles: list[str]
    pass_threshold: float | None | Unset = UNSET
    name: str | Unset = 'contains'
    input_: str | Unset = '{{sample.output_text}}'
    match: ContainsGraderMatch | Unset = 'all'
    ignore_case: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        needles = self.needles



        pass_threshold: float | None | Unset
        if isinstance(self.pass_threshold, Unset):
            pass_threshold = UNSET
        else:
            pass_threshold = self.pass_threshold

        name = self.name

        input_ = self.input_

        match: str | Unset = UNSET
        if not isinstance(self.match, Unset):
            match = self.match


        ignore_case = self.ignore_case


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
            "needles": needles,
        })
        if pass_threshold is not UNSET:
            field_dict["pass_threshold"] = pass_threshold
        if name is not UNSET:
            field_dict["name"] = name
        if input_ is not UNSET:
            field_dict["input"] = input_
        if match is not UNSET:
            field_dict["match"] = match
        if ignore_case is not UNSET:
            field_dict["ignore_case"] = ignore_case

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['contains'] , d.pop("type"))
        if type_ != 'contains':
            raise ValueError(f"type must match const 'contains', got '{type_}'")

        needles = cast(list[str], d.pop("needles"))


        def _parse_pass_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        pass_threshold = _parse_pass_threshold(d.pop("pass_threshold", UNSET))


        name = d.pop("name", UNSET)

        input_ = d.pop("input", UNSET)

        _match = d.pop("match", UNSET)
        match: ContainsGraderMatch | Unset
        if isinstance(_match,  Unset):
            match = UNSET
        else:
            match = check_contains_grader_match(_match)




        ignore_case = d.pop("ignore_case", UNSET)

        contains_grader = cls(
            type_=type_,
            needles=needles,
            pass_threshold=pass_threshold,
            name=name,
            input_=input_,
            match=match,
            ignore_case=ignore_case,
        )


        contains_grader.additional_properties = d
        return contains_grader

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
