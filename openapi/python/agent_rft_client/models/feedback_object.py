from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.feedback_object_rating_type_0 import check_feedback_object_rating_type_0
from ..models.feedback_object_rating_type_0 import FeedbackObjectRatingType0
from ..models.feedback_object_type import check_feedback_object_type
from ..models.feedback_object_type import FeedbackObjectType
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.feedback_object_better_type_0 import FeedbackObjectBetterType0
  from ..models.feedback_object_messages_type_0_item import FeedbackObjectMessagesType0Item
  from ..models.feedback_object_tools_type_0_item import FeedbackObjectToolsType0Item
  from ..models.feedback_object_worse_type_0 import FeedbackObjectWorseType0





T = TypeVar("T", bound="FeedbackObject")



@_attrs_define
class FeedbackObject:
    """ Feedback that was given.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['feedback']): Type of the object; each type has one constant value. Default: 'feedback'.
            created_at (int): Unix seconds at which the object was made.
            type_ (FeedbackObjectType): Kind of the feedback.
            rating (FeedbackObjectRatingType0 | None): The rating; `null` if these are no thumbs.
            completion_id (None | str): The stored completion that was rated, corrected or preferred.
            rejected_completion_id (None | str): The stored completion with the worse answer.
            rollout_id (None | str): The rollout whose answer was rated or corrected.
            messages (list[FeedbackObjectMessagesType0Item] | None): The conversation that two texts answer.
            tools (list[FeedbackObjectToolsType0Item] | None): The tools of that conversation.
            better (FeedbackObjectBetterType0 | None): The message of the correction or of the better text.
            worse (FeedbackObjectWorseType0 | None): The message of the worse text.
            comment (None | str): Free text for readers.
            author (None | str): The person who judged.
            end_user (None | str): The person whose conversation it is.
     """

    id: str
    created_at: int
    type_: FeedbackObjectType
    rating: FeedbackObjectRatingType0 | None
    completion_id: None | str
    rejected_completion_id: None | str
    rollout_id: None | str
    messages: list[FeedbackObjectMessagesType0Item] | None
    tools: list[FeedbackObjectToolsType0Item] | None
    better: FeedbackObjectBetterType0 | None
    worse: FeedbackObjectWorseType0 | None
    comment: None | str
    author: None | str
    end_user: None | str
    object_: Literal['feedback'] = 'feedback'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.feedback_object_better_type_0 import FeedbackObjectBetterType0 # noqa: PLC0415
        from ..models.feedback_object_messages_type_0_item import FeedbackObjectMessagesType0Item # noqa: PLC0415
        from ..models.feedback_object_tools_type_0_item import FeedbackObjectToolsType0Item # noqa: PLC0415
        from ..models.feedback_object_worse_type_0 import FeedbackObjectWorseType0 # noqa: PLC0415
        id = self.id

        object_ = self.object_

        created_at = self.created_at

        type_: str = self.type_

        rating: None | str
        if isinstance(self.rating, str):
            rating = self.rating
        else:
            rating = self.rating

        completion_id: None | str
        completion_id = self.completion_id

        rejected_completion_id: None | str
        rejected_completion_id = self.rejected_completion_id

        rollout_id: None | str
        rollout_id = self.rollout_id

        messages: list[dict[str, Any]] | None
        if isinstance(self.messages, list):
            messages = []
            for messages_type_0_item_data in self.messages:
                messages_type_0_item = messages_type_0_item_data.to_dict()
                messages.append(messages_type_0_item)


        else:
            messages = self.messages

        tools: list[dict[str, Any]] | None
        if isinstance(self.tools, list):
            tools = []
            for tools_type_0_item_data in self.tools:
                tools_type_0_item = tools_type_0_item_data.to_dict()
                tools.append(tools_type_0_item)


        else:
            tools = self.tools

        better: dict[str, Any] | None
        if isinstance(self.better, FeedbackObjectBetterType0):
            better = self.better.to_dict()
        else:
            better = self.better

        worse: dict[str, Any] | None
        if isinstance(self.worse, FeedbackObjectWorseType0):
            worse = self.worse.to_dict()
        else:
            worse = self.worse

        comment: None | str
        comment = self.comment

        author: None | str
        author = self.author

        end_user: None | str
        end_user = self.end_user


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "created_at": created_at,
            "type": type_,
            "rating": rating,
            "completion_id": completion_id,
            "rejected_completion_id": rejected_completion_id,
            "rollout_id": rollout_id,
            "messages": messages,
            "tools": tools,
            "better": better,
            "worse": worse,
            "comment": comment,
            "author": author,
            "end_user": end_user,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.feedback_object_better_type_0 import FeedbackObjectBetterType0 # noqa: PLC0415
        from ..models.feedback_object_messages_type_0_item import FeedbackObjectMessagesType0Item # noqa: PLC0415
        from ..models.feedback_object_tools_type_0_item import FeedbackObjectToolsType0Item # noqa: PLC0415
        from ..models.feedback_object_worse_type_0 import FeedbackObjectWorseType0 # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['feedback'] , d.pop("object"))
        if object_ != 'feedback':
            raise ValueError(f"object must match const 'feedback', got '{object_}'")

        created_at = d.pop("created_at")

        type_ = check_feedback_object_type(d.pop("type"))




        def _parse_rating(data: object) -> FeedbackObjectRatingType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                rating_type_0 = check_feedback_object_rating_type_0(data)



                return rating_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FeedbackObjectRatingType0 | None, data)

        rating = _parse_rating(d.pop("rating"))


        def _parse_completion_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        completion_id = _parse_completion_id(d.pop("completion_id"))


        def _parse_rejected_completion_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        rejected_completion_id = _parse_rejected_completion_id(d.pop("rejected_completion_id"))


        def _parse_rollout_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        rollout_id = _parse_rollout_id(d.pop("rollout_id"))


        def _parse_messages(data: object) -> list[FeedbackObjectMessagesType0Item] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                messages_type_0 = []
                _messages_type_0 = data
                for messages_type_0_item_data in (_messages_type_0):
                    messages_type_0_item = FeedbackObjectMessagesType0Item.from_dict(messages_type_0_item_data)



                    messages_type_0.append(messages_type_0_item)

                return messages_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[FeedbackObjectMessagesType0Item] | None, data)

        messages = _parse_messages(d.pop("messages"))


        def _parse_tools(data: object) -> list[FeedbackObjectToolsType0Item] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tools_type_0 = []
                _tools_type_0 = data
                for tools_type_0_item_data in (_tools_type_0):
                    tools_type_0_item = FeedbackObjectToolsType0Item.from_dict(tools_type_0_item_data)



                    tools_type_0.append(tools_type_0_item)

                return tools_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[FeedbackObjectToolsType0Item] | None, data)

        tools = _parse_tools(d.pop("tools"))


        def _parse_better(data: object) -> FeedbackObjectBetterType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                better_type_0 = FeedbackObjectBetterType0.from_dict(data)



                return better_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FeedbackObjectBetterType0 | None, data)

        better = _parse_better(d.pop("better"))


        def _parse_worse(data: object) -> FeedbackObjectWorseType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                worse_type_0 = FeedbackObjectWorseType0.from_dict(data)



                return worse_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FeedbackObjectWorseType0 | None, data)

        worse = _parse_worse(d.pop("worse"))


        def _parse_comment(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        comment = _parse_comment(d.pop("comment"))


        def _parse_author(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        author = _parse_author(d.pop("author"))


        def _parse_end_user(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        end_user = _parse_end_user(d.pop("end_user"))


        feedback_object = cls(
            id=id,
            object_=object_,
            created_at=created_at,
            type_=type_,
            rating=rating,
            completion_id=completion_id,
            rejected_completion_id=rejected_completion_id,
            rollout_id=rollout_id,
            messages=messages,
            tools=tools,
            better=better,
            worse=worse,
            comment=comment,
            author=author,
            end_user=end_user,
        )


        feedback_object.additional_properties = d
        return feedback_object

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
