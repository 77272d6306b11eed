from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.exact_match_grader_unicode import check_exact_match_grader_unicode
from ..models.exact_match_grader_unicode import ExactMatchGraderUnicode
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="ExactMatchGrader")



@_attrs_define
class ExactMatchGrader:
    """ 1 when two texts are equal, else 0.

        Attributes:
            type_ (Literal['exact_match']): Selects the kind of the object.
            reference (str): Template of the text that it must equal.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            name (str | Unset): Name for readers; it need not be unique. Default: 'exact_match'.
            input_ (str | Unset): Template of the text that is compared. Default: '{{sample.output_text}}'.
            strip (bool | Unset): True ignores white space at both ends. Default: True.
            ignore_case (bool | Unset): True ignores case, by Unicode case folding. Default: False.
            unicode (ExactMatchGraderUnicode | Unset): Unicode normal form in which texts are compared. Default: 'NFC'.
            numbers (bool | Unset): True compares two numbers by their values, so that `$1,000` equals `1e3`. Default:
                False.
     """

    type_: Literal['exact_match']
    reference: str
    pass_threshold: float | None | Unset = UNSET
    name: str | Unset = 'exact_match'
    input_: str | Unset = '{{sample.output_text}}'
    strip: bool | Unset = True
    ignore_case: bool | Unset = False
    unicode: ExactMatchGraderUnicode | Unset = 'NFC'
    numbers: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        reference = self.reference

        pass_threshold: float | None | Unset
        if isinstance(self.pass_threshold, Unset):
            pass_threshold = UNSET
        else:
            pass_threshold = self.pass_threshold

        name = self.name

        input_ = self.input_

        strip = self.strip

        ignore_case = self.ignore_case

        unicode: str | Unset = UNSET
        if not isinstance(self.unicode, Unset):
            unicode = self.unicode


        numbers = self.numbers


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
            "reference": reference,
        })
        if pass_threshold is not UNSET:
            field_dict["pass_threshold"] = pass_threshold
        if name is not UNSET:
            field_dict["name"] = name
        if input_ is not UNSET:
            field_dict["input"] = input_
        if strip is not UNSET:
            field_dict["strip"] = strip
        if ignore_case is not UNSET:
            field_dict["ignore_case"] = ignore_case
        if unicode is not UNSET:
            field_dict["unicode"] = unicode
        if numbers is not UNSET:
            field_dict["numbers"] = numbers

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['exact_match'] , d.pop("type"))
        if type_ != 'exact_match':
            raise ValueError(f"type must match const 'exact_match', got '{type_}'")

        reference = d.pop("reference")

        def _parse_pass_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        pass_threshold = _parse_pass_threshold(d.pop("pass_threshold", UNSET))


        name = d.pop("name", UNSET)

        input_ = d.pop("input", UNSET)

        strip = d.pop("strip", UNSET)

        ignore_case = d.pop("ignore_case", UNSET)

        _unicode = d.pop("unicode", UNSET)
        unicode: ExactMatchGraderUnicode | Unset
        if isinstance(_unicode,  Unset):
            unicode = UNSET
        else:
            unicode = check_exact_match_grader_unicode(_unicode)




        numbers = d.pop("numbers", UNSET)

        exact_match_grader = cls(
            type_=type_,
            reference=reference,
            pass_threshold=pass_threshold,
            name=name,
            input_=input_,
            strip=strip,
            ignore_case=ignore_case,
            unicode=unicode,
            numbers=numbers,
        )


        exact_match_grader.additional_properties = d
        return exact_match_grader

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
