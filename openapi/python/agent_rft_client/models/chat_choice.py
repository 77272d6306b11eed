from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.chat_choice_finish_reason import ChatChoiceFinishReason
from ..models.chat_choice_finish_reason import check_chat_choice_finish_reason
from typing import cast

if TYPE_CHECKING:
  from ..models.chat_message import ChatMessage
  from ..models.logprobs import Logprobs





T = TypeVar("T", bound="ChatChoice")



@_attrs_define
class ChatChoice:
    """ One answer of a whole reply.

        Attributes:
            index (int): Number of the answer, from 0.
            message (ChatMessage): The message of an answer; send it back unchanged to continue the conversation.
            logprobs (Logprobs | None): Log-probs of the sampled tokens, if requested.
            finish_reason (ChatChoiceFinishReason): `length`: the answer was cut at the limit of tokens or at the end of the
                context.
     """

    index: int
    message: ChatMessage
    logprobs: Logprobs | None
    finish_reason: ChatChoiceFinishReason
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.chat_message import ChatMessage # noqa: PLC0415
        from ..models.logprobs import Logprobs # noqa: PLC0415
        index = self.index

        message = self.message.to_dict()

        logprobs: dict[str, Any] | None
        if isinstance(self.logprobs, Logprobs):
            logprobs = self.logprobs.to_dict()
        else:
            logprobs = self.logprobs

        finish_reason: str = self.finish_reason


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "index": index,
            "message": message,
            "logprobs": logprobs,
            "finish_reason": finish_reason,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chat_message import ChatMessage # noqa: PLC0415
        from ..models.logprobs import Logprobs # noqa: PLC0415
        d = dict(src_dict)
        index = d.pop("index")

        message = ChatMessage.from_dict(d.pop("message"))




        def _parse_logprobs(data: object) -> Logprobs | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                logprobs_type_0 = Logprobs.from_dict(data)



                return logprobs_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Logprobs | None, data)

        logprobs = _parse_logprobs(d.pop("logprobs"))


        finish_reason = check_chat_choice_finish_reason(d.pop("finish_reason"))




        chat_choice = cls(
            index=index,
            message=message,
            logprobs=logprobs,
            finish_reason=finish_reason,
        )


        chat_choice.additional_properties = d
        return chat_choice

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
