from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.create_feedback_rating_type_0 import check_create_feedback_rating_type_0
from ..models.create_feedback_rating_type_0 import CreateFeedbackRatingType0
from ..models.create_feedback_type import check_create_feedback_type
from ..models.create_feedback_type import CreateFeedbackType
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.create_feedback_chosen_type_1 import CreateFeedbackChosenType1
  from ..models.create_feedback_correction_type_1 import CreateFeedbackCorrectionType1
  from ..models.create_feedback_messages_type_0_item import CreateFeedbackMessagesType0Item
  from ..models.create_feedback_rejected_type_1 import CreateFeedbackRejectedType1
  from ..models.create_feedback_tools_type_0_item import CreateFeedbackToolsType0Item





T = TypeVar("T", bound="CreateFeedback")



@_attrs_define
class CreateFeedback:
    """ Feedback about an answer. `thumbs` and `correction` name one answer; `preference` names two
    stored completions of the same prompt, or has the prompt and two texts.

        Attributes:
            type_ (CreateFeedbackType): `thumbs`: good or bad. `correction`: what it should have been. `preference`: which
                of two.
            completion_id (None | str | Unset): Id of the stored completion that is rated or corrected.
            rollout_id (None | str | Unset): Id of the rollout of a job whose last answer is rated or corrected.
            rating (CreateFeedbackRatingType0 | None | Unset): `up` or `down`; thumbs have one.
            correction (CreateFeedbackCorrectionType1 | None | str | Unset): The text or the assistant message that the
                answer should have been; a correction has one.
            chosen_completion_id (None | str | Unset): Id of the stored completion with the better answer, for a preference.
            rejected_completion_id (None | str | Unset): Id of the stored completion with the worse answer to the same
                messages.
            messages (list[CreateFeedbackMessagesType0Item] | None | Unset): The conversation that both texts of a
                preference answer.
            tools (list[CreateFeedbackToolsType0Item] | None | Unset): The function tools that this conversation offered.
            chosen (CreateFeedbackChosenType1 | None | str | Unset): The better text or assistant message, for a preference
                between texts.
            rejected (CreateFeedbackRejectedType1 | None | str | Unset): The worse text or assistant message.
            comment (None | str | Unset): Free text for readers; no file contains it.
            author (None | str | Unset): Your id of the person who judges. If an author judges an answer several times, the
                last time counts.
            end_user (None | str | Unset): Your id of the person whose conversation this is; that of the stored completion
                if absent.
     """

    type_: CreateFeedbackType
    completion_id: None | str | Unset = UNSET
    rollout_id: None | str | Unset = UNSET
    rating: CreateFeedbackRatingType0 | None | Unset = UNSET
    correction: CreateFeedbackCorrectionType1 | None | str | Unset = UNSET
    chosen_completion_id: None | str | Unset = UNSET
    rejected_completion_id: None | str | Unset = UNSET
    messages: list[CreateFeedbackMessagesType0Item] | None | Unset = UNSET
    tools: list[CreateFeedbackToolsType0Item] | None | Unset = UNSET
    chosen: CreateFeedbackChosenType1 | None | str | Unset = UNSET
    rejected: CreateFeedbackRejectedType1 | None | str | Unset = UNSET
    comment: None | str | Unset = UNSET
    author: None | str | Unset = UNSET
    end_user: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.create_feedback_chosen_type_1 import CreateFeedbackChosenType1 # noqa: PLC0415
        from ..models.create_feedback_correction_type_1 import CreateFeedbackCorrectionType1 # noqa: PLC0415
        from ..models.create_feedback_messages_type_0_item import CreateFeedbackMessagesType0Item # noqa: PLC0415
        from ..models.create_feedback_rejected_type_1 import CreateFeedbackRejectedType1 # noqa: PLC0415
        from ..models.create_feedback_tools_type_0_item import CreateFeedbackToolsType0Item # noqa: PLC0415
        type_: str = self.type_

        completion_id: None | str | Unset
        if isinstance(self.completion_id, Unset):
            completion_id = UNSET
        else:
            completion_id = self.completion_id

        rollout_id: None | str | Unset
        if isinstance(self.rollout_id, Unset):
            rollout_id = UNSET
        else:
            rollout_id = self.rollout_id

        rating: None | str | Unset
        if isinstance(self.rating, Unset):
            rating = UNSET
        elif isinstance(self.rating, str):
            rating = self.rating
        else:
            rating = self.rating

        correction: dict[str, Any] | None | str | Unset
        if isinstance(self.correction, Unset):
            correction = UNSET
        elif isinstance(self.correction, CreateFeedbackCorrectionType1):
            correction = self.correction.to_dict()
        else:
            correction = self.correction

        chosen_completion_id: None | str | Unset
        if isinstance(self.chosen_completion_id, Unset):
            chosen_completion_id = UNSET
        else:
            chosen_completion_id = self.chosen_completion_id

        rejected_completion_id: None | str | Unset
        if isinstance(self.rejected_completion_id, Unset):
            rejected_completion_id = UNSET
        else:
            rejected_completion_id = self.rejected_completion_id

        messages: list[dict[str, Any]] | None | Unset
        if isinstance(self.messages, Unset):
            messages = UNSET
        elif isinstance(self.messages, list):
            messages = []
            for messages_type_0_item_data in self.messages:
                messages_type_0_item = messages_type_0_item_data.to_dict()
                messages.append(messages_type_0_item)


        else:
            messages = self.messages

        tools: list[dict[str, Any]] | None | Unset
        if isinstance(self.tools, Unset):
            tools = UNSET
        elif isinstance(self.tools, list):
            tools = []
            for tools_type_0_item_data in self.tools:
                tools_type_0_item = tools_type_0_item_data.to_dict()
                tools.append(tools_type_0_item)


        else:
            tools = self.tools

        chosen: dict[str, Any] | None | str | Unset
        if isinstance(self.chosen, Unset):
            chosen = UNSET
        elif isinstance(self.chosen, CreateFeedbackChosenType1):
            chosen = self.chosen.to_dict()
        else:
            chosen = self.chosen

        rejected: dict[str, Any] | None | str | Unset
        if isinstance(self.rejected, Unset):
            rejected = UNSET
        elif isinstance(self.rejected, CreateFeedbackRejectedType1):
            rejected = self.rejected.to_dict()
        else:
            rejected = self.rejected

        comment: None | str | Unset
        if isinstance(self.comment, Unset):
            comment = UNSET
        else:
            comment = self.comment

        author: None | str | Unset
        if isinstance(self.author, Unset):
            author = UNSET
        else:
            author = self.author

        end_user: None | str | Unset
        if isinstance(self.end_user, Unset):
            end_user = UNSET
        else:
            end_user = self.end_user


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
        })
        if completion_id is not UNSET:
            field_dict["completion_id"] = completion_id
        if rollout_id is not UNSET:
            field_dict["rollout_id"] = rollout_id
        if rating is not UNSET:
            field_dict["rating"] = rating
        if correction is not UNSET:
            field_dict["correction"] = correction
        if chosen_completion_id is not UNSET:
            field_dict["chosen_completion_id"] = chosen_completion_id
        if rejected_completion_id is not UNSET:
            field_dict["rejected_completion_id"] = rejected_completion_id
        if messages is not UNSET:
            field_dict["messages"] = messages
        if tools is not UNSET:
            field_dict["tools"] = tools
        if chosen is not UNSET:
            field_dict["chosen"] = chosen
        if rejected is not UNSET:
            field_dict["rejected"] = rejected
        if comment is not UNSET:
            field_dict["comment"] = comment
        if author is not UNSET:
            field_dict["author"] = author
        if end_user is not UNSET:
            field_dict["end_user"] = end_user

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.create_feedback_chosen_type_1 import CreateFeedbackChosenType1 # noqa: PLC0415
        from ..models.create_feedback_correction_type_1 import CreateFeedbackCorrectionType1 # noqa: PLC0415
        from ..models.create_feedback_messages_type_0_item import CreateFeedbackMessagesType0Item # noqa: PLC0415
        from ..models.create_feedback_rejected_type_1 import CreateFeedbackRejectedType1 # noqa: PLC0415
        from ..models.create_feedback_tools_type_0_item import CreateFeedbackToolsType0Item # noqa: PLC0415
        d = dict(src_dict)
        type_ = check_create_feedback_type(d.pop("type"))




        def _parse_completion_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        completion_id = _parse_completion_id(d.pop("completion_id", UNSET))


        def _parse_rollout_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        rollout_id = _parse_rollout_id(d.pop("rollout_id", UNSET))


        def _parse_rating(data: object) -> CreateFeedbackRatingType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                rating_type_0 = check_create_feedback_rating_type_0(data)



                return rating_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateFeedbackRatingType0 | None | Unset, data)

        rating = _parse_rating(d.pop("rating", UNSET))


        def _parse_correction(data: object) -> CreateFeedbackCorrectionType1 | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                correction_type_1 = CreateFeedbackCorrectionType1.from_dict(data)



                return correction_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateFeedbackCorrectionType1 | None | str | Unset, data)

        correction = _parse_correction(d.pop("correction", UNSET))


        def _parse_chosen_completion_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        chosen_completion_id = _parse_chosen_completion_id(d.pop("chosen_completion_id", UNSET))


        def _parse_rejected_completion_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        rejected_completion_id = _parse_rejected_completion_id(d.pop("rejected_completion_id", UNSET))


        def _parse_messages(data: object) -> list[CreateFeedbackMessagesType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                messages_type_0 = []
                _messages_type_0 = data
                for messages_type_0_item_data in (_messages_type_0):
                    messages_type_0_item = CreateFeedbackMessagesType0Item.from_dict(messages_type_0_item_data)



                    messages_type_0.append(messages_type_0_item)

                return messages_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[CreateFeedbackMessagesType0Item] | None | Unset, data)

        messages = _parse_messages(d.pop("messages", UNSET))


        def _parse_tools(data: object) -> list[CreateFeedbackToolsType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tools_type_0 = []
                _tools_type_0 = data
                for tools_type_0_item_data in (_tools_type_0):
                    tools_type_0_item = CreateFeedbackToolsType0Item.from_dict(tools_type_0_item_data)



                    tools_type_0.append(tools_type_0_item)

                return tools_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[CreateFeedbackToolsType0Item] | None | Unset, data)

        tools = _parse_tools(d.pop("tools", UNSET))


        def _parse_chosen(data: object) -> CreateFeedbackChosenType1 | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                chosen_type_1 = CreateFeedbackChosenType1.from_dict(data)



                return chosen_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateFeedbackChosenType1 | None | str | Unset, data)

        chosen = _parse_chosen(d.pop("chosen", UNSET))


        def _parse_rejected(data: object) -> CreateFeedbackRejectedType1 | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                rejected_type_1 = CreateFeedbackRejectedType1.from_dict(data)



                return rejected_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateFeedbackRejectedType1 | None | str | Unset, data)

        rejected = _parse_rejected(d.pop("rejected", UNSET))


        def _parse_comment(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        comment = _parse_comment(d.pop("comment", UNSET))


        def _parse_author(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        author = _parse_author(d.pop("author", UNSET))


        def _parse_end_user(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        end_user = _parse_end_user(d.pop("end_user", UNSET))


        create_feedback = cls(
            type_=type_,
            completion_id=completion_id,
            rollout_id=rollout_id,
            rating=rating,
            correction=correction,
            chosen_completion_id=chosen_completion_id,
            rejected_completion_id=rejected_completion_id,
            messages=messages,
            tools=tools,
            chosen=chosen,
            rejected=rejected,
            comment=comment,
            author=author,
            end_user=end_user,
        )


        create_feedback.additional_properties = d
        return create_feedback

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
