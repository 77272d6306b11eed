from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.judge_message_role import check_judge_message_role
from ..models.judge_message_role import JudgeMessageRole
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.text_part import TextPart





T = TypeVar("T", bound="JudgeMessage")



@_attrs_define
class JudgeMessage:
    """ One message of a model grader's prompt; texts are templates.

        Attributes:
            role (JudgeMessageRole): Role of the message.
            content (list[str | TextPart] | str | TextPart): A template, or parts with a template each.
            type_ (Literal['message'] | None | Unset): Selects the kind of the object.
     """

    role: JudgeMessageRole
    content: list[str | TextPart] | str | TextPart
    type_: Literal['message'] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.text_part import TextPart # noqa: PLC0415
        role: str = self.role

        content: dict[str, Any] | list[dict[str, Any] | str] | str
        if isinstance(self.content, TextPart):
            content = self.content.to_dict()
        elif isinstance(self.content, list):
            content = []
            for content_type_2_item_data in self.content:
                content_type_2_item: dict[str, Any] | str
                if isinstance(content_type_2_item_data, TextPart):
                    content_type_2_item = content_type_2_item_data.to_dict()
                else:
                    content_type_2_item = content_type_2_item_data
                content.append(content_type_2_item)


        else:
            content = self.content

        type_: Literal['message'] | None | Unset
        if isinstance(self.type_, Unset):
            type_ = UNSET
        else:
            type_ = self.type_


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "role": role,
            "content": content,
        })
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.text_part import TextPart # noqa: PLC0415
        d = dict(src_dict)
        role = check_judge_message_role(d.pop("role"))




        def _parse_content(data: object) -> list[str | TextPart] | str | TextPart:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                content_type_1 = TextPart.from_dict(data)



                return content_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, list):
                    raise TypeError()
                content_type_2 = []
                _content_type_2 = data
                for content_type_2_item_data in (_content_type_2):
                    def _parse_content_type_2_item(data: object) -> str | TextPart:
                        try:
                            if not isinstance(data, dict):
                                raise TypeError()
                            content_type_2_item_type_1 = TextPart.from_dict(data)



                            return content_type_2_item_type_1
                        except (TypeError, ValueError, AttributeError, KeyError):
                            pass
                        return cast(str | TextPart, data)

                    content_type_2_item = _parse_content_type_2_item(content_type_2_item_data)

                    content_type_2.append(content_type_2_item)

                return content_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str | TextPart] | str | TextPart, data)

        content = _parse_content(d.pop("content"))


        def _parse_type_(data: object) -> Literal['message'] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            type_type_0 = cast(Literal['message'] , data)
            if type_type_0 != 'message':
                raise ValueError(f"type_type_0 must match const 'message', got '{type_type_0}'")
            return type_type_0
            return cast(Literal['message'] | None | Unset, data)

        type_ = _parse_type_(d.pop("type", UNSET))


        judge_message = cls(
            role=role,
            content=content,
            type_=type_,
        )


        judge_message.additional_properties = d
        return judge_message

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
