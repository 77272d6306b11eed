from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="RegexGrader")



@_attrs_define
class RegexGrader:
    """ 1 when the text matches the expression, else 0.

        Attributes:
            type_ (Literal['regex']): Selects the kind of the object.
            pattern (str): The expression, in the syntax of Rust's `regex` without look-around and back-references; `\\d`
                and `\\w` are ASCII, as in JavaScript. Not a template.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            name (str | Unset): Name for readers; it need not be unique. Default: 'regex'.
            input_ (str | Unset): Template of the text. Default: '{{sample.output_text}}'.
            whole (bool | Unset): True: the whole text must match, not only a part of it. Default: False.
            ignore_case (bool | Unset): True ignores case. Default: False.
     """

    type_: Literal['regex']
    pattern: str
    pass_threshold: float | None | Unset = UNSET
    name: str | Unset = 'regex'
    input_: str | Unset = '{{sample.output_text}}'
    whole: bool | Unset = False
    ignore_case: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        pattern = self.pattern

        pass_threshold: float | None | Unset
        if isinstance(self.pass_threshold, Unset):
            pass_threshold = UNSET
        else:
            pass_threshold = self.pass_threshold

        name = self.name

        input_ = self.input_

        whole = self.whole

        ignore_case = self.ignore_case


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
            "pattern": pattern,
        })
        if pass_threshold is not UNSET:
            field_dict["pass_threshold"] = pass_threshold
        if name is not UNSET:
            field_dict["name"] = name
        if input_ is not UNSET:
            field_dict["input"] = input_
        if whole is not UNSET:
            field_dict["whole"] = whole
        if ignore_case is not UNSET:
            field_dict["ignore_case"] = ignore_case

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['regex'] , d.pop("type"))
        if type_ != 'regex':
            raise ValueError(f"type must match const 'regex', got '{type_}'")

        pattern = d.pop("pattern")

        def _parse_pass_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        pass_threshold = _parse_pass_threshold(d.pop("pass_threshold", UNSET))


        name = d.pop("name", UNSET)

        input_ = d.pop("input", UNSET)

        whole = d.pop("whole", UNSET)

        ignore_case = d.pop("ignore_case", UNSET)

        regex_grader = cls(
            type_=type_,
            pattern=pattern,
            pass_threshold=pass_threshold,
            name=name,
            input_=input_,
            whole=whole,
            ignore_case=ignore_case,
        )


        regex_grader.additional_properties = d
        return regex_grader

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
