from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.tool_call_grader_extra_calls import check_tool_call_grader_extra_calls
from ..models.tool_call_grader_extra_calls import ToolCallGraderExtraCalls
from ..models.tool_call_grader_source import check_tool_call_grader_source
from ..models.tool_call_grader_source import ToolCallGraderSource
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.tool_call_grader_comparators import ToolCallGraderComparators





T = TypeVar("T", bound="ToolCallGrader")



@_attrs_define
class ToolCallGrader:
    """ Mean over the expected calls: 0 without the call, 0.3 for the right function, 0.6 with some
    of the arguments, 1 with all of them and no others.

        Attributes:
            type_ (Literal['tool_call']): Selects the kind of the object.
            reference (str): Template of the expected calls as JSON, `{"name", "arguments"}` or a list of them; an empty
                list expects no call.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            name (str | Unset): Name for readers; it need not be unique. Default: 'tool_call'.
            input_ (str | Unset): Template of the text from which calls are read if the rollout has no structured ones.
                Default: '{{sample.output_text}}'.
            source (ToolCallGraderSource | Unset): Source of the calls: the whole rollout, its last turn, or the text.
                `auto`: the rollout, or the text if the rollout has none. Default: 'auto'.
            ordered (bool | Unset): True: calls count only in the order of the reference. Default: False.
            extra_calls (ToolCallGraderExtraCalls | Unset): `count`: an unexpected call lowers the mean like an expected
                call that scores 0. Default: 'allow'.
            comparators (ToolCallGraderComparators | Unset): Comparison of single arguments, by name; `exact` for all
                others. `number` compares values, `contains` looks for the expected text, `unordered` compares lists as sets,
                `any` accepts every value, even a missing one.
     """

    type_: Literal['tool_call']
    reference: str
    pass_threshold: float | None | Unset = UNSET
    name: str | Unset = 'tool_call'
    input_: str | Unset = '{{sample.output_text}}'
    source: ToolCallGraderSource | Unset = 'auto'
    ordered: bool | Unset = False
    extra_calls: ToolCallGraderExtraCalls | Unset = 'allow'
    comparators: ToolCallGraderComparators | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.tool_call_grader_comparators import ToolCallGraderComparators # noqa: PLC0415
        type_ = self.type_

        reference = self.reference

        pass_threshold: float | None | Unset
        if isinstance(self.pass_threshold, Unset):
            pass_threshold = UNSET
        else:
            pass_threshold = self.pass_threshold

        name = self.name

        input_ = self.input_

        source: str | Unset = UNSET
        if not isinstance(self.source, Unset):
            source = self.source


        ordered = self.ordered

        extra_calls: str | Unset = UNSET
        if not isinstance(self.extra_calls, Unset):
            extra_calls = self.extra_calls


        comparators: dict[str, Any] | Unset = UNSET
        if not isinstance(self.comparators, Unset):
            comparators = self.comparators.to_dict()


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
        if source is not UNSET:
            field_dict["source"] = source
        if ordered is not UNSET:
            field_dict["ordered"] = ordered
        if extra_calls is not UNSET:
            field_dict["extra_calls"] = extra_calls
        if comparators is not UNSET:
            field_dict["comparators"] = comparators

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.tool_call_grader_comparators import ToolCallGraderComparators # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['tool_call'] , d.pop("type"))
        if type_ != 'tool_call':
            raise ValueError(f"type must match const 'tool_call', got '{type_}'")

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

        _source = d.pop("source", UNSET)
        source: ToolCallGraderSource | Unset
        if isinstance(_source,  Unset):
            source = UNSET
        else:
            source = check_tool_call_grader_source(_source)




        ordered = d.pop("ordered", UNSET)

        _extra_calls = d.pop("extra_calls", UNSET)
        extra_calls: ToolCallGraderExtraCalls | Unset
        if isinstance(_extra_calls,  Unset):
            extra_calls = UNSET
        else:
            extra_calls = check_tool_call_grader_extra_calls(_extra_calls)




        _comparators = d.pop("comparators", UNSET)
        comparators: ToolCallGraderComparators | Unset
        if isinstance(_comparators,  Unset):
            comparators = UNSET
        else:
            comparators = ToolCallGraderComparators.from_dict(_comparators)




        tool_call_grader = cls(
            type_=type_,
            reference=reference,
            pass_threshold=pass_threshold,
            name=name,
            input_=input_,
            source=source,
            ordered=ordered,
            extra_calls=extra_calls,
            comparators=comparators,
        )


        tool_call_grader.additional_properties = d
        return tool_call_grader

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
