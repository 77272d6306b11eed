from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="CodeExecutionGrader")



@_attrs_define
class CodeExecutionGrader:
    """ The share of tests that the model's Python code passes; it runs in the sandbox.

        Attributes:
            type_ (Literal['code_execution']): Selects the kind of the object.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            name (str | Unset): Name for readers; it need not be unique. Default: 'code_execution'.
            input_ (str | Unset): Template of the code: the last Markdown block labelled as Python in it, else the last one
                without a label, else the whole text. Default: '{{sample.output_text}}'.
            function (None | str | Unset): Template of the name of the function that tests call; without it they run the
                whole program.
            tests (str | Unset): Template of the tests as JSON: a list of `{"arguments", "expected"}` for a function, of
                `{"stdin", "stdout"}` for a program. Default: '{{item.tests}}'.
     """

    type_: Literal['code_execution']
    pass_threshold: float | None | Unset = UNSET
    name: str | Unset = 'code_execution'
    input_: str | Unset = '{{sample.output_text}}'
    function: None | str | Unset = UNSET
    tests: str | Unset = '{{item.tests}}'
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

        function: None | str | Unset
        if isinstance(self.function, Unset):
            function = UNSET
        else:
            function = self.function

        tests = self.tests


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
        if function is not UNSET:
            field_dict["function"] = function
        if tests is not UNSET:
            field_dict["tests"] = tests

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['code_execution'] , d.pop("type"))
        if type_ != 'code_execution':
            raise ValueError(f"type must match const 'code_execution', got '{type_}'")

        def _parse_pass_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        pass_threshold = _parse_pass_threshold(d.pop("pass_threshold", UNSET))


        name = d.pop("name", UNSET)

        input_ = d.pop("input", UNSET)

        def _parse_function(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        function = _parse_function(d.pop("function", UNSET))


        tests = d.pop("tests", UNSET)

        code_execution_grader = cls(
            type_=type_,
            pass_threshold=pass_threshold,
            name=name,
            input_=input_,
            function=function,
            tests=tests,
        )


        code_execution_grader.additional_properties = d
        return code_execution_grader

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
